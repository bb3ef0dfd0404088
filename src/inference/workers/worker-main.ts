import { parentPort } from 'node:worker_threads';
import { MillraceError } from '../../errors/millrace-error.js';
import { toWire } from '../../errors/wire.js';
import { createHostedServices } from './hosted-services.js';
import type { Request, Response } from './protocol.js';
import { createResourceTable } from './resources.js';
import type { Reply } from './service.js';

/** The entry of every worker thread: does what it is asked, one request after the other. */
const port = parentPort;
if (port === null) throw new MillraceError('internal', 'worker-main is the entry of a worker thread.');
const services = createHostedServices(createResourceTable());
let last: Promise<void> = Promise.resolve();

async function answer(id: number, work: () => Promise<Reply>): Promise<void> {
  const start = performance.now();
  const post = (response: Response, transfer?: Reply['transfer']) => port!.postMessage(response, transfer);
  try {
    const { value, transfer } = await work();
    post({ kind: 'value', id, value, ms: performance.now() - start }, transfer);
  } catch (error) {
    post({ kind: 'error', id, error: toWire(error), ms: performance.now() - start });
  }
}

async function handle(request: Request): Promise<void> {
  switch (request.kind) {
    case 'define':
      services.define(request.service, request.module, request.options);
      return;
    case 'call':
      await answer(request.id, () => services.call(request.service, request.method, request.payload));
      return;
    case 'release':
      await answer(request.id, async () => ({ value: await services.release(request.service) }));
      return;
    case 'close':
      await services.closeAll();
      port!.close();
      return;
    default:
      request satisfies never;
  }
}

port.on('message', (request: Request) => {
  last = last.then(() => handle(request));
});
