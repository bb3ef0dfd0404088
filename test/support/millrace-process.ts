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
  /** The first line of standard error with this text, once it is there. @throws when the process ends before */
  says(text: string): Promise<string>;
  /** The same of standard output. */
  prints(text: string): Promise<string>;
}

const main = join(repositoryRoot, 'dist/src/cli/main.js');

export interface MillraceOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** It is ended by SIGKILL after so long. */
  readonly limitMs?: number;
}

/** The command line as a process of its own. */
export function startMillrace(args: readonly string[], options: MillraceOptions = {}): MillraceProcess {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: options.cwd ?? repositoryRoot,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.limitMs,
    killSignal: 'SIGKILL',
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
  async function line(text: string, stream: NodeJS.ReadableStream, read: () => string): Promise<string> {
    for (let over = false; ;) {
      // What comes after the last line feed may be half a line.
      const first = read()
        .split('\n')
        .slice(0, -1)
        .find((one) => one.includes(text));
      if (first !== undefined) return first;
      if (over) throw new Error(`It ended without ${text}: ${stdout}${stderr}`);
      over = await Promise.race([once(stream, 'data').then(() => false), ended.then(() => true)]);
    }
  }
  return {
    child,
    ended,
    says: (text) => line(text, child.stderr, () => stderr),
    prints: (text) => line(text, child.stdout, () => stdout),
  };
}

/** Runs the command line to its end. */
export function millrace(args: readonly string[], options: MillraceOptions = {}): Promise<Ended> {
  return startMillrace(args, options).ended;
}
