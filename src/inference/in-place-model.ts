import type { InPlaceModelRef } from '../contracts/embedding-model.js';
import type { Resources } from './workers/resources.js';

/** A model inside a worker thread. */
export interface InPlaceModel {
  /** Components of a vector. */
  readonly width: number;
  /** Writes the vector of the document tokens `ids[from] ... ids[to - 1]` to `out` at `at`. */
  embed(ids: Int32Array, from: number, to: number, out: Float32Array, at: number): void;
}

/** What the module that an `InPlaceModelRef` names exports. */
export interface InPlaceModule {
  /** Called once a thread and service, with the options of the reference. */
  create(options: never, resources: Resources): InPlaceModel | Promise<InPlaceModel>;
}

export async function openInPlace(ref: InPlaceModelRef, resources: Resources): Promise<InPlaceModel> {
  const { create } = (await import(ref.module)) as InPlaceModule;
  return create(ref.options as never, resources);
}
