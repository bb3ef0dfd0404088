import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { BareRound, BareVectors, BareWorkerData } from './embed-bare-worker.js';
import type { ReadyText } from './embed-texts.js';

/** The model without an engine: worker threads that share out ready, perfectly sorted batches. */
export interface BareWorkers {
  /** @param tokens of a batch at most, padding counted. Gives the time, and the vectors in the order of the texts. */
  run(texts: readonly ReadyText[], tokens: number): Promise<{ ms: number; vectors: Float32Array[] }>;
  close(): Promise<void>;
}

export function openBareWorkers(graph: string, workers: number, threads: number): BareWorkers {
  const all = Array.from(
    { length: workers },
    () =>
      new Worker(new URL('./embed-bare-worker.js', import.meta.url), {
        workerData: { graph, threads } satisfies BareWorkerData,
      }),
  );
  const answers = async () => (await Promise.all(all.map((worker) => once(worker, 'message')))).flat();

  return {
    async run(texts, tokens) {
      const order = sortedBatches(texts, tokens);
      const round: BareRound = {
        batches: order.map((batch) => batch.map((at) => Int32Array.from(texts[at]!.ids))),
        next: new SharedArrayBuffer(4),
      };
      for (const worker of all) worker.postMessage(round);
      await answers();
      const began = performance.now();
      for (const worker of all) worker.postMessage('go');
      const found = (await answers()) as BareVectors[];
      const ms = performance.now() - began;
      const vectors: Float32Array[] = [];
      for (const { vectors: some } of found)
        for (const [batch, rows] of some) {
          const width = rows.length / order[batch]!.length;
          order[batch]!.forEach((at, row) => (vectors[at] = rows.subarray(row * width, (row + 1) * width)));
        }
      return { ms, vectors };
    },
    async close() {
      const ended = Promise.all(all.map((worker) => once(worker, 'exit')));
      for (const worker of all) worker.postMessage('end');
      await ended;
    },
  };
}

/** Where the weights lie. */
export function graphOf(folder: string, dtype: 'fp32' | 'int8'): string {
  return join(folder, 'onnx', dtype === 'fp32' ? 'model.onnx' : 'model_quantized.onnx');
}

/** Places of the texts, longest first, cut where the padded size would be over `tokens`. */
function sortedBatches(texts: readonly ReadyText[], tokens: number): number[][] {
  const length = (at: number) => texts[at]!.ids.length + 2;
  const order = texts.map((_, at) => at).sort((a, b) => length(b) - length(a));
  const batches: number[][] = [];
  for (let from = 0; from < order.length;) {
    const count = Math.max(1, Math.floor(tokens / length(order[from]!)));
    batches.push(order.slice(from, from + count));
    from += count;
  }
  return batches;
}
