import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * The result of a process's whole work. One that ends before says so, which Node leaves out: when nothing is left that the
 * work could wait for (exit code 13), or by a signal.
 */
export async function toItsEnd<Result>(work: Promise<Result>): Promise<Result> {
  const name = process.argv[1];
  const say = (how: string) => void process.stderr.write(`${name} ended before its work was done: ${how}.\n`);
  const cutShort = () => say('nothing was left to wait for');
  const ended = (signal: (typeof signals)[number]) => {
    process.off('exit', cutShort);
    say(signal);
    process.exit(128 + constants.signals[signal]);
  };
  process.once('exit', cutShort);
  for (const signal of signals) process.once(signal, ended);
  try {
    return await work;
  } finally {
    process.off('exit', cutShort);
    for (const signal of signals) process.off(signal, ended);
  }
}
