/** A worker of the bare side: a session that takes ready batches one after the other, with nobody to wait for. */
import { parentPort, workerData } from 'node:worker_threads';
import { padBatch, type PaddedBatch } from '../src/inference/handlers/onnx/padded-batch.js';
import { poolVectors } from '../src/inference/handlers/onnx/pool-vectors.js';
import { openSession } from '../src/inference/handlers/onnx/session.js';

export interface BareWorkerData {
  readonly graph: string;
  readonly threads: number;
}

/** A round: every worker has all batches, and takes the next by a counter that they share. */
export interface BareRound {
  readonly batches: readonly (readonly Int32Array[])[];
  readonly next: SharedArrayBuffer;
}

export interface BareVectors {
  /** By batch: shape [texts, width]. */
  readonly vectors: ReadonlyMap<number, Float32Array>;
}

const special = { before: [101], after: [102] };
const { graph, threads } = workerData as BareWorkerData;
const session = await openSession({ path: graph, shown: graph }, { threads, device: 'cpu', deviceIndex: 0 });

parentPort!.on('message', (message: BareRound | 'go' | 'end') => {
  if (message === 'end') void session.close().then(() => parentPort!.close());
  else if (message === 'go') void run();
  else {
    ready = message.batches.map((batch) => padBatch(batch, special, 256));
    next = new Int32Array(message.next);
    parentPort!.postMessage('ready');
  }
});

let ready: PaddedBatch[] = [];
let next = new Int32Array(new SharedArrayBuffer(4));

async function run(): Promise<void> {
  const vectors = new Map<number, Float32Array>();
  for (let at = Atomics.add(next, 0, 1); at < ready.length; at = Atomics.add(next, 0, 1)) {
    const batch = ready[at]!;
    vectors.set(at, poolVectors(await session.run(batch), batch, 'mean', true));
  }
  parentPort!.postMessage({ vectors } satisfies BareVectors);
}
