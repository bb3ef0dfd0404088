import { defaultWorkerCount } from '../src/inference/workers/cores.js';
import { inChildProcess } from './child-process.js';
import type { Benchmark, Figure } from './figure.js';
import { median } from './median.js';
import type { PipelineSide, SideResult } from './pipeline-side.js';

/**
 * UTF-16 code units of one round: half a minute on two cores. V8 takes one to two seconds of processor time to compile a
 * run, and one to compile the bare side, however long they go on.
 */
const units = 400_000_000;
const rounds = 5;
/** Texts of a batch of the bare handler that are tried; the fastest is taken. */
const batchSizes = [64, 256, 1024];
const trialUnits = 10_000_000;

/** A run into a store that keeps nothing, against the model's handler alone on chunk texts that are ready. */
export const pipeline: Benchmark = {
  about: 'bundled model into a null sink, against its bare handler on ready chunk texts',
  async *run(say) {
    const workers = defaultWorkerCount();
    const batch = await bestBatch(workers, say);
    yield* compare(workers, batch, say, { bar: 0.8 });
    if (workers > 1) yield* compare(1, batch, say, {});
  },
};

async function bestBatch(workers: number, say: (line: string) => void): Promise<number> {
  const trials: { size: number; ms: number }[] = [];
  for (const size of batchSizes) {
    const { ms } = await side({ side: 'bare', units: trialUnits, workers, batch: size });
    trials.push({ size, ms });
  }
  const { size } = trials.reduce((best, trial) => (trial.ms < best.ms ? trial : best));
  say(`best batch of the bare handler: ${size} texts`);
  return size;
}

async function* compare(
  workers: number,
  batch: number,
  say: (line: string) => void,
  { bar }: { readonly bar?: number },
): AsyncGenerator<Figure> {
  const [ours, bare, idle]: [SideResult[], SideResult[], SideResult[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    // Which side goes first alternates, so that a drift of the machine favours neither.
    const order = round % 2 === 0 ? ['bare', 'ours'] : ['ours', 'bare'];
    for (const turn of order)
      if (turn === 'ours') ours.push(await side({ side: 'pipeline', units, workers }));
      else bare.push(await side({ side: 'bare', units, workers, batch }));
    idle.push(await side({ side: 'idle', ms: 3_000 }));
    const ratio = bare.at(-1)!.ms / ours.at(-1)!.ms;
    say(`${workers} workers, round ${round + 1} of ${rounds}: ratio ${ratio.toFixed(3)}`);
  }
  const name = `pipeline/${workers}-workers`;
  for (const [label, results] of [
    ['run', ours],
    ['bare', bare],
  ] as const) {
    const rate = (count: (result: SideResult) => number) =>
      Math.round(median(results.map((result) => (count(result) * 1000) / result.ms)));
    yield { name: `${name}/${label}/documents`, value: rate(({ documents }) => documents), unit: '1/s' };
    yield { name: `${name}/${label}/chunks`, value: rate(({ chunks }) => chunks), unit: '1/s' };
    yield { name: `${name}/${label}/tokens`, value: rate(({ tokens }) => tokens), unit: '1/s' };
    yield {
      name: `${name}/${label}/processor-time`,
      value: Math.round(median(results.map(({ cpuMs }) => cpuMs))),
      unit: 'ms',
    };
  }
  yield {
    name: `${name}/ratio`,
    value: rounded(median(ours.map(({ ms }, round) => bare[round]!.ms / ms))),
    unit: 'of the bare handler',
    ...(bar !== undefined && { bar }),
    better: 'higher',
  };
  // The bare side uses the same threads: a share of processor time does not depend on what else the machine does.
  yield {
    name: `${name}/processor-ratio`,
    value: rounded(median(ours.map(({ cpuMs }, round) => bare[round]!.cpuMs / cpuMs))),
    unit: 'of the bare handler',
    better: 'higher',
  };
  const idleMs = median(idle.map(({ delayMs }) => delayMs));
  yield { name: `${name}/idle-delay-p99`, value: rounded(idleMs), unit: 'ms' };
  yield {
    name: `${name}/main-thread-delay-p99`,
    value: rounded(median(ours.map(({ delayMs }) => delayMs))),
    unit: 'ms',
    ...(bar !== undefined && { bar: rounded(Math.max(50, 2 * idleMs)) }),
    better: 'lower',
  };
}

function side(input: PipelineSide): Promise<SideResult> {
  return inChildProcess(new URL('./pipeline-side.js', import.meta.url), input);
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
