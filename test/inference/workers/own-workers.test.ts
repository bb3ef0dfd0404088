import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Loadable } from '../../../src/inference/loadable.js';
import { withOwnWorkers } from '../../../src/inference/workers/own-workers.js';
import type { WorkerService } from '../../../src/inference/workers/pool.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import type { FixtureOptions } from './fixture-service.js';

interface Model {
  readonly service: WorkerService;
  close(): Promise<void>;
}
const signal = new AbortController().signal;

const loadable = (options: FixtureOptions): Promise<Loadable<Model>> =>
  withOwnWorkers(1, async (pool) => ({
    key: options.label,
    name: options.label,
    bytes: 1,
    load: async () => {
      const service = pool.service(new URL('./fixture-service.js', import.meta.url), options);
      await service.call('where', null);
      return { service, close: () => service.release() };
    },
  }));
const threadOf = async ({ service }: Model) =>
  (await service.call<{ threadId: number }>('where', null)).threadId;

test('a model with workers of its own is loaded while others work, and can be loaded again once it was closed', async () => {
  const [a, b] = [await loadable({ label: 'a' }), await loadable({ label: 'b' })];
  const first = await a.load(signal);
  let done = false;
  const gate = join(await temporaryFolder(), 'go');
  const busy = first.service.call('until', gate).then(() => (done = true));
  const second = await b.load(signal);
  const thread = await threadOf(second);
  await second.close();
  await expect(second.service.call('where', null)).rejects.toMatchObject({ code: 'aborted' });
  const again = await b.load(signal);
  expect(await threadOf(again)).not.toBe(thread);
  await again.close();
  expect(done).toBe(false);
  await writeFile(gate, '');
  await busy;
  await first.close();
});

test('a load that fails leaves no workers behind, and may succeed later', async () => {
  const options = { label: 'c', failCreate: true };
  const broken = await loadable(options);
  await expect(broken.load(signal)).rejects.toMatchObject({ code: 'model_not_found' });
  options.failCreate = false;
  const model = await broken.load(signal);
  expect(await threadOf(model)).toBeGreaterThan(0);
  await model.close();
});
