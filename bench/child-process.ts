import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { toItsEnd } from './to-its-end.js';

/** Runs a module in a process of its own, that gives back one value: see `answer`. */
export function inChildProcess<Input, Output>(module: URL, input: Input): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(module), JSON.stringify(input)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(JSON.parse(output) as Output);
      const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
      reject(new Error(`${fileURLToPath(module)} ${how}.`));
    });
  });
}

/** The other end: does `work` with what this process was given, and hands its result to the parent. */
export async function answer<Input, Output>(work: (input: Input) => Promise<Output>): Promise<void> {
  const output = await toItsEnd(work(JSON.parse(process.argv[2]!) as Input));
  process.stdout.write(JSON.stringify(output));
}
