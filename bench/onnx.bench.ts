import { systemClock } from '../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../src/inference/load-model.js';
import { modelSpec } from '../src/inference/model-spec.js';
import { defaultWorkerCount } from '../src/inference/workers/cores.js';
import { createWorkerPool } from '../src/inference/workers/pool.js';
import { chunk } from '../src/transforms/chunk/chunk.js';
import { createEmbedder } from '../src/transforms/embed.js';
import { minilmFolder } from '../test/support/weights/minilm.js';
import type { Benchmark } from './figure.js';
import { median } from './median.js';
import { readmes } from './readmes.js';

const sequences = 256;
const rounds = 3;

/** MiniLM on texts of mixed lengths: all at once through the batcher, against one by one. */
export const onnx: Benchmark = {
  about: 'all-MiniLM-L6-v2 on passages of mixed lengths, batched against one by one',
  async *run(say) {
    const model = minilmFolder();
    const texts = mixedTexts();
    for (const dtype of ['fp32', 'int8'] as const) {
      const pool = createWorkerPool({ size: defaultWorkerCount() });
      const handler = await loadEmbeddingModel(modelSpec.parse({ onnx: { model, dtype } }), {
        pool,
        baseFolder: '.',
        cacheFolder: '.',
      });
      const embedder = createEmbedder({
        model: handler,
        role: 'document',
        clock: systemClock,
        signal: new AbortController().signal,
        report: () => undefined,
      });
      const [together, single]: [number[], number[]] = [[], []];
      await embedder.embedAll(texts.slice(0, 32));
      for (let round = 0; round < rounds; round += 1) {
        const began = performance.now();
        await embedder.embedAll(texts);
        const between = performance.now();
        for (const text of texts) await embedder.embed(text);
        together.push((sequences * 1000) / (between - began));
        single.push((sequences * 1000) / (performance.now() - between));
        say(`${dtype}, round ${round + 1} of ${rounds}`);
      }
      await handler.close();
      await pool.close();
      for (const [name, rates] of [
        ['batched', together],
        ['one-by-one', single],
      ] as const)
        yield {
          name: `onnx/${dtype}/${name}`,
          value: Math.round(median(rates) * 10) / 10,
          unit: '1/s',
          better: 'higher',
        };
    }
  },
};

/** Passages of the READMEs, of 16 to 256 tokens about. */
function mixedTexts(): { text: string }[] {
  const sizes = [16, 32, 64, 128, 256];
  const text = readmes().join('\n\n');
  const pieces = chunk.recursive(text, { maxTokens: 256 }).slice(0, sequences);
  return pieces.map((piece, at) => ({ text: piece.text.slice(0, sizes[at % sizes.length]! * 4) }));
}
