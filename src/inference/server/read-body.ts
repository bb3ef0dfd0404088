import type { IncomingMessage } from 'node:http';
import { ApiError } from './api-error.js';

/**
 * The whole body. What is over `maxBytes` is read and dropped: a client that is cut off while it sends never sees why.
 * @throws ApiError 413
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  // Node drops what is never read.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes <= maxBytes) parts.push(part);
    else parts.length = 0;
  }
  if (bytes > maxBytes) throw tooLarge(maxBytes);
  return Buffer.concat(parts).toString('utf8');
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError(413, 'body_too_large', `A body may have ${maxBytes} bytes; divide the request.`);
}
