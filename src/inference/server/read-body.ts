import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { ApiError } from './api-error.js';

/**
 * The whole body. What is over `maxBytes` is read and dropped: a client that is cut off while it sends never sees why.
 * @throws ApiError 413, or 400 when it is not UTF-8; Error when the client leaves before it has sent everything, or the
 * signal aborts
 */
export function readBody(request: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<string> {
  // Its async iterator costs more than all else that is done with a short body.
  return new Promise((resolve, reject) => {
    // Node drops what is never read.
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return reject(tooLarge(maxBytes));
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= maxBytes) parts.push(part);
      else parts.length = 0;
    });
    request.once('end', () => {
      if (bytes > maxBytes) return reject(tooLarge(maxBytes));
      const body = Buffer.concat(parts);
      // Else signs that stand for what is lost would be embedded, and nobody told.
      if (isUtf8(body)) resolve(body.toString('utf8'));
      else reject(new ApiError(400, 'invalid_utf8', 'The body is not UTF-8.'));
    });
    request.on('error', reject);
    const left = () => reject(new Error('The client left before its request was whole.'));
    request.once('close', left);
    // A request that was answered before it was whole is told of nothing.
    signal.addEventListener('abort', left, { once: true });
  });
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError(413, 'body_too_large', `A body may have ${maxBytes} bytes; divide the request.`);
}
