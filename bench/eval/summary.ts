import { bootstrap, meanOf, type Bounds } from './bootstrap.js';
import type { Answer } from './evaluate.js';
import { measureNames } from './measures.js';

/** A mean over questions with its 95 % interval. */
export interface Estimate {
  readonly mean: number;
  readonly interval: Bounds;
}

export type Summary = Readonly<Record<(typeof measureNames)[number], Estimate>> & {
  /** A corpus, or `all`. */
  readonly corpus: string;
  readonly questions: number;
};

/** Over all questions first, then for each corpus. */
export function summarise(answers: readonly Answer[]): Summary[] {
  const names = [...new Set(answers.map(({ corpus }) => corpus))];
  return [
    summaryOf('all', answers),
    ...names.map((name) =>
      summaryOf(
        name,
        answers.filter(({ corpus }) => corpus === name),
      ),
    ),
  ];
}

function summaryOf(corpus: string, answers: readonly Answer[]): Summary {
  const estimates = measureNames.map((name) => [name, estimate(answers.map((answer) => answer[name]))]);
  const byMeasure = Object.fromEntries(estimates) as Record<(typeof measureNames)[number], Estimate>;
  return { corpus, questions: answers.length, ...byMeasure };
}

function estimate(values: readonly number[]): Estimate {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, interval: bootstrap(values.length, (indices) => meanOf(values, indices)) };
}

/** Mean recall over mean recall of the same questions, resampled together. */
export function recallRatio(answers: readonly Answer[], base: readonly Answer[]): Estimate {
  const [own, others] = [answers, base].map((all) => all.map(({ recall }) => recall)) as [number[], number[]];
  const ratio = (indices: Int32Array) => meanOf(own, indices) / meanOf(others, indices);
  const everyOne = Int32Array.from(own.keys());
  return { mean: ratio(everyOne), interval: bootstrap(own.length, ratio) };
}
