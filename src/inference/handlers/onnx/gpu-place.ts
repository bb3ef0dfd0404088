import { createWorkerPool } from '../../workers/pool.js';
import { threadsOf } from './cpu-place.js';
import type { Device, Place, PlaceOptions } from './place.js';

/** One worker a GPU: the next batch waits there, so that the GPU never waits for it. */
export function openOnGpus(device: Device, { options, module, serviceOptions }: PlaceOptions): Place {
  const { isolation, threads: asked } = options;
  const indexes = [options.deviceIndex].flat();
  const threads = threadsOf(asked, indexes.length);
  const lanes = indexes.map((deviceIndex) => {
    const pool = createWorkerPool({ size: 1, isolation });
    return {
      pool,
      service: pool.service(module, serviceOptions({ threads, device, deviceIndex })),
      underWay: 0,
    };
  });
  return {
    device,
    summary: `${lanes.length} workers (${isolation}) on ${device} ${indexes.join(', ')}`,
    concurrency: lanes.length * 2,
    services: lanes.map(({ service }) => service),
    async call<Result>(method: string, payload: unknown, signal?: AbortSignal): Promise<Result> {
      const lane = lanes.reduce((least, one) => (one.underWay < least.underWay ? one : least));
      lane.underWay += 1;
      try {
        return await lane.service.call<Result>(method, payload, { signal });
      } finally {
        lane.underWay -= 1;
      }
    },
    async close() {
      for (const { service, pool } of lanes) {
        await service.release();
        await pool.close();
      }
    },
  };
}
