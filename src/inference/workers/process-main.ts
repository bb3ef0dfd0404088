import type { Request } from './protocol.js';
import { serveRequests } from './serve-requests.js';

/** The entry of every worker process. */
const send = process.send!.bind(process);
const serve = serveRequests({
  post: (response) => void send(response),
  close: () => process.disconnect(),
});
process.on('message', (request) => serve(request as Request));
// Its pool is closed, or its parent is gone: nobody waits for an answer.
process.on('disconnect', () => process.exit());

// A terminal and a supervisor signal all processes at once; this one still has work when its parent drains.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
