import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultWorkerCount } from '../src/inference/workers/cores.js';
import { minilmFolder } from '../test/support/weights/minilm.js';
import { inChildProcess } from './child-process.js';
import { embedTexts } from './embed-texts.js';
import type { Benchmark } from './figure.js';
import { median } from './median.js';
import type { ServeSideInput, ServeSideResult } from './serve-side.js';

const clients = 64;
/** Some 7 and 14 s (int8, fp32) on two cores: over 2.5 s the same code is off by a tenth from one run to the next. */
const texts = 3_072;
/** As long as it takes until V8 has compiled both sides' code: a server serves for long. */
const warmUp = 2_048;
const rounds = 5;
/** Texts of a request, with the bar for it. */
const requests = [
  { request: 8, bar: 0.85 },
  { request: 1, bar: 0.85 },
];

/** 64 clients of `millrace serve`, against as many callers of the same engine in one process. */
export const serve: Benchmark = {
  about: 'all-MiniLM-L6-v2 behind `millrace serve` with 64 clients, against the same calls in one process',
  async *run(say) {
    const folder = minilmFolder();
    const scratch = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
    try {
      const file = join(scratch, 'texts.json');
      const { mixed } = await embedTexts(join(folder, 'tokenizer.json'), {
        mixed: warmUp + texts,
        chunks: 1,
      });
      await writeFile(file, JSON.stringify(mixed.map(({ text }) => text)));
      for (const dtype of ['fp32', 'int8'] as const)
        for (const { request, bar } of requests) {
          const workers = defaultWorkerCount();
          const input = { folder, dtype, workers, texts: file, warmUp, clients, request };
          const own: ServeSideResult[] = [];
          const served: ServeSideResult[] = [];
          for (let round = 0; round < rounds; round += 1) {
            const order = ['in-process', 'served'] as const;
            // Which side goes first alternates, so that a drift of the machine favours none.
            for (const turn of round % 2 === 0 ? order : order.toReversed())
              (turn === 'served' ? served : own).push(await side({ ...input, side: turn }));
            checkSame(dtype, own.at(-1)!, served.at(-1)!);
            say(
              `${dtype}, ${request} a request, round ${round + 1} of ${rounds}: ` +
                `in one process ${Math.round(own.at(-1)!.ms)} ms, served ${Math.round(served.at(-1)!.ms)} ms`,
            );
          }
          const name = `serve/${dtype}/${request}-a-request`;
          const rate = (results: readonly ServeSideResult[]) =>
            rounded(median(results.map(({ ms }) => (texts * 1_000) / ms)));
          yield { name: `${name}/in-process`, value: rate(own), unit: 'texts/s' };
          yield { name: `${name}/served`, value: rate(served), unit: 'texts/s' };
          yield {
            name: `${name}/ratio`,
            value: rounded(median(served.map(({ ms }, round) => own[round]!.ms / ms))),
            unit: 'of one process',
            bar,
            better: 'higher',
          };
          // It hardly moves on a busy machine.
          yield {
            name: `${name}/processor-ratio`,
            value: rounded(median(served.map(({ cpuMs }, round) => own[round]!.cpuMs / cpuMs))),
            unit: 'of one process',
            better: 'higher',
          };
        }
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  },
};

function side(input: ServeSideInput): Promise<ServeSideResult> {
  return inChildProcess(new URL('./serve-side.js', import.meta.url), input);
}

/** Vectors of int8 differ a little with their batch. */
function checkSame(
  dtype: 'fp32' | 'int8',
  { sum: own }: ServeSideResult,
  { sum: served }: ServeSideResult,
): void {
  const allowed = dtype === 'fp32' ? 1e-3 : 0.05 * texts;
  if (!(Math.abs(own - served) <= allowed))
    throw new Error(`The sums of all components differ: ${own}, ${served}.`);
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
