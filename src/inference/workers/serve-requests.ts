import { toWire } from '../../errors/wire.js';
import { createHostedServices } from './hosted-services.js';
import type { Request, Response } from './protocol.js';
import { createResourceTable } from './resources.js';
import type { Reply } from './service.js';

/** Where a worker's answers go. */
export interface AnswerPort {
  /** @throws when the answer cannot be cloned */
  post(response: Response, transfer?: Reply['transfer']): void;
  /** Nothing more is asked: the worker may end. */
  close(): void;
}

/** What a worker does with its requests: one after the other. */
export function serveRequests(port: AnswerPort): (request: Request) => void {
  const services = createHostedServices(createResourceTable());
  let last: Promise<void> = Promise.resolve();

  async function answer(id: number, work: () => Promise<Reply>): Promise<void> {
    const start = performance.now();
    try {
      const { value, transfer } = await work();
      port.post({ kind: 'value', id, value, ms: performance.now() - start }, transfer);
    } catch (error) {
      port.post({ kind: 'error', id, error: toWire(error), ms: performance.now() - start });
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
        port.close();
        return;
      default:
        request satisfies never;
    }
  }

  return (request) => {
    last = last.then(() => handle(request));
  };
}
