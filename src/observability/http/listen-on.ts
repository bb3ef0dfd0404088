import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MillraceError } from '../../errors/millrace-error.js';
import { isLoopback } from './access.js';

export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Needed beyond loopback. */
  readonly token?: string | undefined;
}

/**
 * @returns the address, such as `http://127.0.0.1:8080`
 * @throws MillraceError `config_invalid` beyond loopback without a token, or when the address cannot be had
 */
export async function listenOn(server: Server, { host, port, token }: ListenAddress): Promise<string> {
  if (token === undefined && !isLoopback(host))
    throw new MillraceError('config_invalid', `Nothing but a token keeps strangers out of ${host}.`, {
      hint: 'Set a token, or listen on 127.0.0.1.',
    });
  await new Promise<void>((listening, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new MillraceError('config_invalid', `${host}:${port} cannot be listened on (${cause.code}).`, {
          cause,
          hint: 'Is another program there? Give another port by --port or `port`, or an address of this machine.',
        }),
      ),
    );
    server.listen(port, host, listening);
  });
  const { address, family, port: taken } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
}
