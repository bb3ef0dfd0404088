import { InvalidArgumentError } from 'commander';

export interface HttpAddress {
  readonly host?: string;
  readonly port: number;
}

/** `9464`, `0.0.0.0:9464` or `[::]:9464`. */
export function httpAddress(text: string): HttpAddress {
  const [, host, port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('expected a port, or host:port such as 0.0.0.0:9464.');
  return { port: Number(port), ...(host !== undefined && { host: host.replace(/^\[(.*)\]$/, '$1') }) };
}
