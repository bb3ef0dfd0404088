/** One measured number, as a benchmark prints it. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the value must reach, or must not exceed: `better` says which. */
  readonly bar?: number;
  readonly better?: 'higher' | 'lower';
}

/** A benchmark by name: what it measures, and how. Progress goes to `say`, figures to the caller. */
export interface Benchmark {
  readonly about: string;
  run(say: (line: string) => void): AsyncIterable<Figure>;
}

/** Whether a figure keeps its bar; true without one. */
export function keepsBar({ value, bar, better }: Figure): boolean {
  if (bar === undefined) return true;
  return better === 'lower' ? value <= bar : value >= bar;
}
