import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/flow/system-clock.js';
import { tokenizerRef } from '../../../src/inference/tokenizer/load-tokenizer.js';
import { createPooledTokenizer } from '../../../src/inference/tokenizer/pooled-tokenizer.js';
import { createWorkerPool, type WorkerPool } from '../../../src/inference/workers/pool.js';
import type { RunEvent } from '../../../src/observability/events.js';
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.js';
import { tinyModelFiles, tinyWords } from '../../support/tiny-model.js';

let pool: WorkerPool;
afterEach(() => pool.close());

async function open(signal = new AbortController().signal) {
  const folder = await temporaryFolder();
  await writeFiles(folder, tinyModelFiles());
  const events: RunEvent[] = [];
  const tokenizer = createPooledTokenizer({
    tokenizer: await tokenizerRef(`${folder}/tokenizer.json`),
    pool,
    clock: systemClock,
    signal,
    report: (event) => events.push(event),
  });
  return { tokenizer, events };
}

test('a text whose worker ends is tokenised by the next one', async () => {
  // One that can be killed from here, in the middle of a call.
  pool = createWorkerPool({ size: 1, isolation: 'process' });
  const { tokenizer, events } = await open();
  const pid = await pool
    .service(new URL('../workers/fixture-service.js', import.meta.url), { label: '' })
    .call<number>('pid', null);
  const ids = tokenizer.ids([tinyWords[5]!]);
  await turn();
  process.kill(pid, 'SIGKILL');
  expect(await ids).toEqual([Int32Array.of(5)]);
  expect(events).toMatchObject([{ type: 'retry', lane: 'tokenize', error: { code: 'worker_crashed' } }]);
});

test('texts that wait are not tokenised for a caller that left', async () => {
  pool = createWorkerPool({ size: 1 });
  const { tokenizer } = await open();
  const left = AbortSignal.abort(new Error('left'));
  const [staying, leaving] = await Promise.all([
    tokenizer.idsOfEach([tinyWords[4]!]),
    tokenizer.idsOfEach([tinyWords[5]!], left),
  ]);
  expect(staying).toEqual([Int32Array.of(4)]);
  expect(leaving).toEqual([expect.objectContaining({ message: 'left' })]);
});

test('after a stop every text fails by it, also once the workers are gone', async () => {
  pool = createWorkerPool({ size: 1 });
  const stop = new AbortController();
  const { tokenizer } = await open(stop.signal);
  stop.abort(new Error('stopped'));
  await tokenizer.close();
  await expect(tokenizer.ids([tinyWords[4]!])).rejects.toThrow('stopped');
});
