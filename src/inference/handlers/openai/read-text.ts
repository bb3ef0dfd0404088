import type { IncomingMessage } from 'node:http';

/**
 * The text of an answer up to so many bytes. @returns undefined in place of a longer one, unless `cut`
 * @throws Error when the connection breaks
 */
export function readText(
  body: IncomingMessage,
  mostBytes: number,
  cut: boolean,
): Promise<string | undefined> {
  // Its async iterator costs more than all else that is done with a short answer.
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const text = () => Buffer.concat(parts).subarray(0, mostBytes).toString('utf8');
    body.on('data', (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes <= mostBytes) return;
      resolve(cut ? text() : undefined);
      body.destroy();
    });
    body.once('end', () => resolve(text()));
    body.on('error', reject);
    body.once('close', () => reject(new Error('The connection was closed before the answer was whole.')));
  });
}
