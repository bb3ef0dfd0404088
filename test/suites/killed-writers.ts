import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { FailedStore } from '../../src/contracts/failed-store.js';
import { repositoryRoot } from '../support/repository.js';
import { failedRecord, recordsOf } from './failed-store-suite.js';

const script = join(repositoryRoot, 'dist/test/support/failed-process.js');

/**
 * Several processes put records and are killed in the middle, while another one discards: whatever was promised is there,
 * once and whole.
 */
export async function loseNothingToKills(
  connector: string,
  config: object,
  store: FailedStore,
): Promise<void> {
  const promised: string[] = [];
  const others = Array.from({ length: 200 }, (_, at) => failedRecord(`mine-${at}`));
  await store.put(others);
  for (let round = 0; round < 2; round++) {
    const writers = [0, 1, 2].map((at) => {
      const child = spawn(process.execPath, [script, connector, JSON.stringify(config), `w${round}${at}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let printed = '';
      child.stdout.on('data', (data: Buffer) => (printed += data.toString()));
      return { child, ended: once(child, 'close'), printed: () => printed };
    });
    const underWay = () => writers.every(({ printed }) => printed().split('\n').length > 20);
    await expect.poll(underWay).toBe(true);
    for (const record of others.slice(round * 100, round * 100 + 100)) await store.discard([record]);
    for (const { child } of writers) child.kill('SIGKILL');
    for (const { ended, printed } of writers) {
      await ended;
      // A last line without its newline may be cut.
      promised.push(...printed().split('\n').slice(0, -1));
    }
  }
  const records = await recordsOf(store);
  const held = new Set(records.map(({ documentId }) => documentId));
  expect(held.size).toBe(records.length);
  expect(promised.filter((id) => !held.has(id))).toEqual([]);
  expect(promised.length).toBeGreaterThan(100);
  expect([...held].filter((id) => id.startsWith('mine'))).toEqual([]);
  expect(records.every(({ element }) => element.text !== undefined)).toBe(true);
}
