import { parentPort } from 'node:worker_threads';
import { MillraceError } from '../../errors/millrace-error.js';
import { toWire } from '../../errors/wire.js';
import { createHostedServices } from './hosted-services.js';
import type { Request, Response } from './protocol.js';
import { createResourceTable } from './resources.js';

/** The entry of every worker thread: does what it is asked, one request after the other. */
const port = parentPort;
if (port === null) throw new MillraceError('internal', 'worker-main is the entry of a worker thread.');
const services = createHostedServices(createResourceTable());
let last: Promise<void> = Promise.resolve();

function answer(response: Response) {
  port!.postMessage(response);
}

async function handle(request: Request): Promise<void> {
  switch (request.kind) {
    case 'define':
      services.define(request.service, request.module, request.options);
      return;
    case 'call':
      try {
        const { value, transfer } = await services.call(request.service, request.method, request.payload);
        const response: Response = { kind: 'value', id: request.id, value };
        port!.postMessage(response, transfer);
      } catch (error) {
        answer({ kind: 'error', id: request.id, error: toWire(error) });
      }
      return;
    case 'release':
      try {
        await services.release(request.service);
        answer({ kind: 'value', id: request.id, value: undefined });
      } catch (error) {
        answer({ kind: 'error', id: request.id, error: toWire(error) });
      }
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
