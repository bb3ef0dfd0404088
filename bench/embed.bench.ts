import { inChildProcess } from './child-process.js';
import { beginBacklog } from './embed-backlog.bench.js';
import { rivals } from './embed-rivals.js';
import type { Dtype, EmbedSideInput, EmbedSideResult } from './embed-side.js';
import { withEmbedTexts, type ReadyText, type TextSet } from './embed-texts.js';
import type { Benchmark, Figure } from './figure.js';
import { median } from './median.js';

const rounds = 3;
/** Batch sizes of the bare workers, in padded tokens; the fastest over all rounds is what the engine is held against. */
const budgets = [256, 512, 1_024];

type Side = EmbedSideInput['side'];

/** The whole embedding engine on real MiniLM, against its bare workers and against others' embedders. */
export const embed: Benchmark = {
  about: 'all-MiniLM-L6-v2 through the engine, against bare workers on sorted batches and other embedders',
  run: (say) =>
    withEmbedTexts(async function* (input, sets) {
      for (const set of ['mixed', 'chunks'] as const) yield* lengthsOf(set, sets[set]);
      for (const dtype of ['fp32', 'int8'] as const) {
        for (const set of ['mixed', 'chunks'] as const)
          yield* compare({ ...input, dtype, set, budgets }, say);
        yield* beginBacklog({ ...input, dtype }, say);
      }
    }),
};

function* lengthsOf(set: TextSet, texts: readonly ReadyText[]): Generator<Figure> {
  const lengths = texts.map(({ ids }) => ids.length + 2);
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  yield { name: `embed/${set}/texts`, value: texts.length, unit: 'texts' };
  yield { name: `embed/${set}/tokens-mean`, value: rounded(mean), unit: 'tokens' };
  yield { name: `embed/${set}/tokens-most`, value: Math.max(...lengths), unit: 'tokens' };
}

async function* compare(
  input: Omit<EmbedSideInput, 'side'>,
  say: (line: string) => void,
): AsyncGenerator<Figure> {
  const { dtype, set } = input;
  const sides: readonly Side[] = ['engine', 'bare', ...rivals, 'idle'];
  const results = Object.fromEntries(sides.map((side) => [side, [] as EmbedSideResult[]])) as {
    [side in Side]: EmbedSideResult[];
  };
  for (let round = 0; round < rounds; round += 1) {
    // Which side goes first alternates, so that a drift of the machine favours none.
    for (const side of round % 2 === 0 ? sides : sides.toReversed())
      results[side].push(
        await inChildProcess(new URL('./embed-side.js', import.meta.url), { ...input, side }),
      );
    for (const side of ['bare', 'transformers'] as const)
      checkSame(dtype, side, results.engine.at(-1)!, results[side].at(-1)!);
    say(
      `${dtype}, ${set}, round ${round + 1} of ${rounds}: ` +
        sides.map((side) => `${side} ${Math.round(Math.min(...results[side].at(-1)!.ms))} ms`).join(', '),
    );
  }
  const name = `embed/${dtype}/${set}`;
  const rate = (results: readonly EmbedSideResult[], at: number) =>
    median(results.map(({ texts, ms }) => (texts * 1_000) / ms[at]!));
  const best = budgets.reduce(
    (best, _, at) => (rate(results.bare, at) > rate(results.bare, best) ? at : best),
    0,
  );
  const ratios = (
    value: (result: EmbedSideResult, at: number) => number,
    other: readonly EmbedSideResult[],
    at: number,
  ) => {
    const perText = (result: EmbedSideResult, at: number) => value(result, at) / result.texts;
    return rounded(
      median(results.engine.map((ours, round) => perText(other[round]!, at) / perText(ours, 0))),
    );
  };
  for (const side of ['engine', ...rivals] as const)
    yield { name: `${name}/${side}`, value: rounded(rate(results[side], 0)), unit: '1/s', better: 'higher' };
  yield { name: `${name}/bare-${budgets[best]}`, value: rounded(rate(results.bare, best)), unit: '1/s' };
  yield {
    name: `${name}/of-bare`,
    value: ratios(({ ms }, at) => ms[at]!, results.bare, best),
    unit: 'of the bare workers',
    bar: 0.95,
    better: 'higher',
  };
  yield {
    name: `${name}/of-bare/processor-time`,
    value: ratios(({ cpuMs }, at) => cpuMs[at]!, results.bare, best),
    unit: 'of the bare workers',
    better: 'higher',
  };
  for (const rival of rivals) {
    yield {
      name: `${name}/over-${rival}`,
      value: ratios(({ ms }) => ms[0]!, results[rival], 0),
      unit: 'times',
      ...(set === 'mixed' && { bar: 3 }),
      better: 'higher',
    };
    yield {
      name: `${name}/over-${rival}/processor-time`,
      value: ratios(({ cpuMs }) => cpuMs[0]!, results[rival], 0),
      unit: 'times',
      better: 'higher',
    };
  }
  yield {
    name: `${name}/padding`,
    value: rounded(median(results.engine.map(({ waste }) => waste))),
    unit: 'of the tokens computed',
    bar: 0.08,
    better: 'lower',
  };
  const idle = median(results.idle.map(({ delayMs }) => delayMs));
  yield {
    name: `${name}/main-thread-delay-p99`,
    value: rounded(median(results.engine.map(({ delayMs }) => delayMs))),
    unit: 'ms',
    bar: rounded(Math.max(20, 2 * idle)),
    better: 'lower',
  };
}

/** A fast wrong answer is no figure. In int8 a vector moves a little with its batch. */
function checkSame(dtype: Dtype, side: Side, ours: EmbedSideResult, theirs: EmbedSideResult): void {
  const cosine = ours.vector.reduce((sum, component, at) => sum + component * theirs.vector[at]!, 0);
  if (cosine < (dtype === 'fp32' ? 0.99999 : 0.97))
    throw new Error(`The engine's vector of the first text has cosine ${cosine} with that of ${side}.`);
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
