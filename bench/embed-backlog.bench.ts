import { inChildProcess } from './child-process.js';
import type { BacklogInput, BacklogResult } from './embed-backlog-side.js';
import type { Benchmark, Figure } from './figure.js';
import { withEmbedTexts } from './embed-texts.js';

/** Resident memory of the process at most, in MB, whatever waits: the model, its two sessions, and the backlog itself. */
const mostMegabytes = 1_000;

const backlog = 100_000;

/** The whole backlog through both precisions: some half an hour on two cores. */
export const embedBacklog: Benchmark = {
  about: 'peak memory while a backlog of 100,000 chunks drains to its end (embed does only its beginning)',
  run: (say) =>
    withEmbedTexts(async function* (input) {
      for (const dtype of ['int8', 'fp32'] as const) yield* drain({ ...input, dtype, backlog }, say);
    }),
};

/** The beginning of it: all of the backlog waits, and the longest texts are embedded. */
export function beginBacklog(
  input: Omit<BacklogInput, 'backlog' | 'stopMs'>,
  say: (line: string) => void,
): AsyncGenerator<Figure> {
  return drain({ ...input, backlog, stopMs: 30_000 }, say);
}

async function* drain(input: BacklogInput, say: (line: string) => void): AsyncGenerator<Figure> {
  const { peakBytes, embedded, ms, waste, delayMs }: BacklogResult = await inChildProcess(
    new URL('./embed-backlog-side.js', import.meta.url),
    input,
  );
  const name = `embed/${input.dtype}/backlog`;
  say(`${name}: ${embedded} of ${input.backlog} texts in ${Math.round(ms / 1_000)} s`);
  yield { name: `${name}/embedded`, value: embedded, unit: 'texts' };
  yield {
    name: `${name}/peak-memory`,
    value: Math.round(peakBytes / 1e6),
    unit: 'MB',
    bar: mostMegabytes,
    better: 'lower',
  };
  yield {
    name: `${name}/padding`,
    value: rounded(waste),
    unit: 'of the tokens computed',
    bar: 0.08,
    better: 'lower',
  };
  yield { name: `${name}/main-thread-delay-p99`, value: rounded(delayMs), unit: 'ms', better: 'lower' };
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
