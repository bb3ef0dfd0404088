import type { Notice } from '../../../contracts/context.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import type { WorkerPool, WorkerService } from '../../workers/pool.js';
import { openOnCpu } from './cpu-place.js';
import { openOnGpus } from './gpu-place.js';
import type { OnnxOptions } from './options.js';
import type { SessionOptions } from './session.js';

/** The workers that a model runs on: shared ones, some of its own, or one for each GPU. */
export interface Place {
  readonly device: Device;
  /** For people: `2 workers (thread) of 1 threads on 2 cores`. */
  readonly summary: string;
  /** Calls that may be under way at once, those that wait on a GPU's worker included. */
  readonly concurrency: number;
  /** Every service of it; each opens a session of its own. */
  readonly services: readonly WorkerService[];
  call<Result>(method: string, payload: unknown, signal?: AbortSignal): Promise<Result>;
  close(): Promise<void>;
}

export type Device = 'cpu' | 'cuda' | 'webgpu';

export interface PlaceOptions {
  /** For messages. */
  readonly model: string;
  /** Bytes of the weights. */
  readonly bytes: number;
  /** Shared with other services: used where the model asks for nothing of its own. */
  readonly pool: WorkerPool;
  readonly options: Pick<OnnxOptions, 'device' | 'deviceIndex' | 'isolation' | 'memoryMb' | 'threads'>;
  /** A service module with a method `describe`. */
  readonly module: URL;
  /** What the module is given. */
  serviceOptions(session: SessionOptions): unknown;
  onNotice?: ((notice: Notice) => void) | undefined;
}

/**
 * Opens a model on the first of its devices that is there, and asks every service there to `describe` itself, so that
 * what cannot run fails here.
 * @param payload of `describe`
 * @throws MillraceError `device_unavailable`, `resources_insufficient`, and whatever `describe` throws
 */
export async function openPlace<Description>(
  options: PlaceOptions,
  payload: unknown,
): Promise<{ readonly place: Place; readonly description: Description }> {
  const devices = [options.options.device].flat();
  for (let at = 0; ; at += 1) {
    const device = devices[at]!;
    const place = device === 'cpu' ? openOnCpu(options) : openOnGpus(device, options);
    try {
      const [description] = await Promise.all(
        place.services.map((service) => service.call<Description>('describe', payload)),
      );
      return { place, description: description! };
    } catch (thrown) {
      await place.close();
      const error = MillraceError.from(thrown);
      const next = devices[at + 1];
      if (next === undefined || error.code !== 'device_unavailable') throw error;
      options.onNotice?.({
        level: 'warn',
        code: 'device_fallback',
        message: `Model ${options.model} runs on ${next}, not on ${device}. ${error.message}: ${error.hint}`,
      });
    }
  }
}
