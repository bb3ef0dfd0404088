import { MillraceError } from '../../errors/millrace-error.js';
import type { ResourceLease, ResourceTable } from './resources.js';
import type { Reply, Service, ServiceModule } from './service.js';

/** The services that live in one thread. */
export interface HostedServices {
  define(service: number, module: string, options: unknown): void;
  call(service: number, method: string, payload: unknown): Promise<Reply>;
  release(service: number): Promise<void>;
  closeAll(): Promise<void>;
}

interface Hosted {
  readonly module: string;
  readonly options: unknown;
  running: Promise<{ readonly service: Service; readonly lease: ResourceLease }> | undefined;
}

export function createHostedServices(resources: ResourceTable): HostedServices {
  const hosted = new Map<number, Hosted>();

  async function start({ module, options }: Hosted) {
    const lease = resources.lease();
    try {
      const { create } = (await import(module)) as ServiceModule;
      return { service: await create(options as never, lease), lease };
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  async function running(entry: Hosted) {
    entry.running ??= start(entry);
    try {
      return await entry.running;
    } catch (error) {
      entry.running = undefined;
      throw error;
    }
  }

  async function release(id: number) {
    const entry = hosted.get(id);
    hosted.delete(id);
    if (entry?.running === undefined) return;
    const { service, lease } = await entry.running;
    try {
      await service.close?.();
    } finally {
      lease.release();
    }
  }

  return {
    define(service, module, options) {
      hosted.set(service, { module, options, running: undefined });
    },
    async call(id, method, payload) {
      const entry = hosted.get(id);
      if (entry === undefined) throw new MillraceError('internal', `The service of ${method} was released.`);
      const { service } = await running(entry);
      const run = service.methods[method];
      if (run === undefined)
        throw new MillraceError('internal', `${entry.module} has no method ${JSON.stringify(method)}.`);
      return run(payload as never);
    },
    release,
    async closeAll() {
      await Promise.allSettled([...hosted.keys()].map(release));
    },
  };
}
