import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../temporary-folder.js';

/** A loopback port that speaks TLS and leads to a real service that does not. It is gone after the test. */
export interface TlsProxy {
  readonly port: number;
  /** File with its certificate, which nobody else knows. */
  readonly ca: string;
}

/** How a client of Postgres asks for TLS, and the answer that it gets it. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const granted = 'S';

/**
 * @param target port of the service, on loopback
 * @param asks the client asks for TLS first, as clients of Postgres do
 */
export async function startTlsProxy(target: number, { asks }: { readonly asks: boolean }): Promise<TlsProxy> {
  const { key, certificate, ca } = await ownCertificate();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const service = connect({ port: target, host: '127.0.0.1', noDelay: true });
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    const secure = () => {
      const inside = new TLSSocket(client, { isServer: true, key, cert: certificate });
      inside.on('error', () => client.destroy());
      inside.pipe(service).pipe(inside);
    };
    if (!asks) return secure();
    client.once('data', (data: Buffer) => {
      if (!data.equals(sslRequest)) return void client.resetAndDestroy();
      client.write(granted);
      secure();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, ca };
}

async function ownCertificate() {
  const folder = await temporaryFolder();
  const files = { key: join(folder, 'key.pem'), certificate: join(folder, 'certificate.pem') };
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ...['-keyout', files.key, '-out', files.certificate],
  ]);
  return {
    key: await readFile(files.key),
    certificate: await readFile(files.certificate),
    ca: files.certificate,
  };
}
