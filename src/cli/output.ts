/** Where a command writes: data to standard output, everything else to standard error. */
export interface Output {
  /** Print data as JSON, one value a line, and nothing else on standard output. */
  readonly json: boolean;
  /** A line of an answer, for people; not printed with `json`. */
  line(text: string): void;
  /** A value of an answer, for programs; only printed with `json`. */
  data(value: unknown): void;
  /** A line about the work, not the answer. */
  note(text: string): void;
  /** A line about something wrong. */
  problem(text: string): void;
}

export function createOutput(json: boolean): Output {
  return {
    json,
    line: (text) => void (json || process.stdout.write(`${text}\n`)),
    data: (value) => void (json && process.stdout.write(`${JSON.stringify(value)}\n`)),
    note: (text) => void process.stderr.write(`${text}\n`),
    problem: (text) => void process.stderr.write(`${text}\n`),
  };
}
