import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.js';
import type { ToDouble } from './process.js';
import type { QdrantCounts, QdrantFault, QdrantOptions } from './server.js';

export interface QdrantDouble {
  readonly url: string;
  fail(...faults: readonly QdrantFault[]): Promise<void>;
  forgive(): Promise<void>;
  counts(): Promise<QdrantCounts>;
  close(): Promise<void>;
}

/** Stands in for a Qdrant server, in a process of its own: no registry carries the real one. */
export async function startQdrant(options: QdrantOptions = {}): Promise<QdrantDouble> {
  const child = fork(join(repositoryRoot, 'dist/test/support/qdrant/process.js'), [JSON.stringify(options)]);
  const exited = once(child, 'exit');
  /** What it says next. @throws when it ends before */
  const said = async (): Promise<unknown> => {
    const over = exited.then(([code, signal]) => {
      throw new Error(`The double of Qdrant ended with ${code ?? signal}.`);
    });
    const [message] = await Promise.race([once(child, 'message') as Promise<[unknown]>, over]);
    return message;
  };
  const url = (await said()) as string;
  let turn: Promise<unknown> = Promise.resolve();
  const order = (message: ToDouble) =>
    (turn = turn.then(async () => {
      const answered = said();
      child.send(message);
      return answered;
    }));
  return {
    url,
    fail: async (...faults) => void (await order({ fail: faults })),
    forgive: async () => void (await order({ forgive: true })),
    counts: async () => (await order({ counts: true })) as QdrantCounts,
    close: async () => {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
