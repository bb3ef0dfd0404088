import { inChildProcess } from './child-process.js';
import { beginBacklog } from './embed-backlog.bench.js';
import { rivals, type Rival } from './embed-rivals.js';
import type { Dtype, EmbedSideInput, EmbedSideResult } from './embed-side.js';
import { withEmbedTexts, type ReadyText, type TextSet } from './embed-texts.js';
import type { Benchmark, Figure } from './figure.js';
import { median } from './median.js';

/** One run of some 10 s is off by some 3 in a hundred: it takes several to tell that much apart. */
const rounds = 5;
/** Rounds that the others take part in: they are off by whole factors. */
const rivalRounds = 3;
/** Batch sizes of the bare workers, in padded tokens; the fastest of the first round is what the engine is held against. */
const budgets = [256, 512, 1_024];

type Side = EmbedSideInput['side'];

/** The whole embedding engine on real MiniLM, against its bare workers and against others' embedders. */
export const embed: Benchmark = {
  about: 'all-MiniLM-L6-v2 through the engine, against bare workers on sorted batches and other embedders',
  run: (say) =>
    withEmbedTexts(async function* (input, sets) {
      for (const set of ['mixed', 'chunks'] as const) yield* lengthsOf(set, sets[set]);
      for (const dtype of ['fp32', 'int8'] as const) {
        for (const set of ['mixed', 'chunks'] as const) yield* compare({ ...input, dtype, set }, say);
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
  input: Omit<EmbedSideInput, 'side' | 'budgets'>,
  say: (line: string) => void,
): AsyncGenerator<Figure> {
  const { dtype, set } = input;
  const sides: readonly Side[] = ['engine', 'bare', ...rivals, 'idle'];
  const results = Object.fromEntries(sides.map((side) => [side, [] as EmbedSideResult[]])) as {
    [side in Side]: EmbedSideResult[];
  };
  let tried: readonly number[] = budgets;
  for (let round = 0; round < rounds; round += 1) {
    const present = sides.filter((side) => round < rivalRounds || !isRival(side));
    // Which side goes first alternates, so that a drift of the machine favours none.
    for (const side of round % 2 === 0 ? present : present.toReversed())
      results[side].push(
        await inChildProcess(new URL('./embed-side.js', import.meta.url), { ...input, side, budgets: tried }),
      );
    if (round === 0) {
      const [{ ms, cpuMs, ...bare }] = results.bare as [EmbedSideResult];
      const best = ms.indexOf(Math.min(...ms));
      tried = [budgets[best]!];
      results.bare = [{ ...bare, ms: [ms[best]!], cpuMs: [cpuMs[best]!] }];
      checkSame(dtype, 'transformers', results.engine[0]!, results.transformers[0]!);
    }
    checkSame(dtype, 'bare', results.engine.at(-1)!, results.bare.at(-1)!);
    say(
      `${dtype}, ${set}, round ${round + 1} of ${rounds}: ` +
        present.map((side) => `${side} ${Math.round(results[side].at(-1)!.ms[0]!)} ms`).join(', '),
    );
  }
  const name = `embed/${dtype}/${set}`;
  const rate = (results: readonly EmbedSideResult[]) =>
    rounded(median(results.map(({ texts, ms }) => (texts * 1_000) / ms[0]!)));
  const ratios = (times: 'ms' | 'cpuMs', others: readonly EmbedSideResult[]) => {
    const perText = (result: EmbedSideResult) => result[times][0]! / result.texts;
    return rounded(median(others.map((other, round) => perText(other) / perText(results.engine[round]!))));
  };
  for (const side of ['engine', ...rivals] as const)
    yield { name: `${name}/${side}`, value: rate(results[side]), unit: '1/s', better: 'higher' };
  yield { name: `${name}/bare-${tried[0]}`, value: rate(results.bare), unit: '1/s' };
  yield {
    name: `${name}/of-bare`,
    value: ratios('ms', results.bare),
    unit: 'of the bare workers',
    bar: 0.95,
    better: 'higher',
  };
  yield {
    name: `${name}/of-bare/processor-time`,
    value: ratios('cpuMs', results.bare),
    unit: 'of the bare workers',
    better: 'higher',
  };
  for (const rival of rivals) {
    yield {
      name: `${name}/over-${rival}`,
      value: ratios('ms', results[rival]),
      unit: 'times',
      ...(set === 'mixed' && { bar: 3 }),
      better: 'higher',
    };
    yield {
      name: `${name}/over-${rival}/processor-time`,
      value: ratios('cpuMs', results[rival]),
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

function isRival(side: Side): side is Rival {
  return rivals.some((rival) => rival === side);
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
