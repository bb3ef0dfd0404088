import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { repositoryRoot } from './repository.js';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface MillraceProcess {
  readonly child: ChildProcess;
  /** Resolves once it has ended and everything it wrote has been read. */
  readonly ended: Promise<Ended>;
  /** Resolves once standard error holds this text. @throws when the process ends before */
  says(text: string): Promise<void>;
  /** Resolves once standard output holds this text. @throws when the process ends before */
  prints(text: string): Promise<void>;
}

const main = join(repositoryRoot, 'dist/src/cli/main.js');

/** The command line as a process of its own. */
export function startMillrace(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): MillraceProcess {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: options.cwd ?? repositoryRoot,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stdout,
    stderr,
  }));
  async function holds(text: string, stream: NodeJS.ReadableStream, read: () => string): Promise<void> {
    while (!read().includes(text)) {
      const over = await Promise.race([once(stream, 'data').then(() => false), ended.then(() => true)]);
      if (over && !read().includes(text)) throw new Error(`It ended without ${text}: ${stdout}${stderr}`);
    }
  }
  return {
    child,
    ended,
    says: (text) => holds(text, child.stderr, () => stderr),
    prints: (text) => holds(text, child.stdout, () => stdout),
  };
}

/** Runs the command line to its end. */
export function millrace(
  args: readonly string[],
  options: Parameters<typeof startMillrace>[1] = {},
): Promise<Ended> {
  return startMillrace(args, options).ended;
}
