import { parentPort } from 'node:worker_threads';
import { MillraceError } from '../../errors/millrace-error.js';
import type { Request } from './protocol.js';
import { serveRequests } from './serve-requests.js';

/** The entry of every worker thread. */
const port = parentPort;
if (port === null) throw new MillraceError('internal', 'thread-main is the entry of a worker thread.');
port.on(
  'message',
  serveRequests({
    post: (response, transfer) => port.postMessage(response, transfer),
    close: () => port.close(),
  }) satisfies (request: Request) => void,
);
