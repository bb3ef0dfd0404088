import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { FolderAnswer, FolderCommand } from './folder-process.js';

export interface FolderProcess {
  readonly pid: number;
  /** @throws an Error with the `code` of the MillraceError; `gone` when the process ended first */
  ask(command: FolderCommand): Promise<unknown>;
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

/** Starts a process on a folder; it opens nothing before it is asked to. */
export async function startFolderProcess(folder: string): Promise<FolderProcess> {
  const child = fork(new URL('./folder-process.js', import.meta.url), [folder]);
  const waiting = new Map<number, (answer: FolderAnswer) => void>();
  let nextId = 1;
  const started = new Promise<FolderAnswer>((resolve) => waiting.set(0, resolve));
  child.on('message', (answer: FolderAnswer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  child.once('exit', () => {
    for (const [id, resolve] of waiting) resolve({ id, code: 'gone' });
    waiting.clear();
  });
  const { code } = await started;
  if (code !== undefined) throw new Error('The process did not start.');
  return {
    pid: child.pid!,
    ask: async (command) => {
      const id = nextId++;
      const answer = await new Promise<FolderAnswer>((resolve) => {
        waiting.set(id, resolve);
        if (child.connected) child.send({ id, command });
        else resolve({ id, code: 'gone' });
      });
      if (answer.code === undefined) return answer.value;
      throw Object.assign(new Error(`The process answered ${answer.code}.`), { code: answer.code });
    },
    kill: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, 'exit');
    },
  };
}
