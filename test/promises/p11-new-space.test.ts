import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import type { PipelineInput } from '../../src/config/schema.js';
import type { RunEvent } from '../../src/observability/events.js';
import { listGenerations } from '../../src/runtime/generations/run-generations.js';
import type { RunControl } from '../../src/runtime/start-refresh.js';
import { writeFiles } from '../support/temporary-folder.js';
import { tinyModelFiles, tinyTable } from '../support/tiny-model.js';
import { usePglite, type Bed } from './bed.js';

const openBed = usePglite();
vi.setConfig({ testTimeout: 120_000 });

/** The same words with other vectors, which are as wide: another space. */
const turned = tinyModelFiles({ table: tinyTable.map(([a, b, c, d]) => [b!, a!, d!, c!]) });
const flat = tinyModelFiles({ table: tinyTable.map(() => [0, 0, 0, 0]) });
const putModel = (bed: Bed, files: Record<string, Buffer>) =>
  writeFiles(join(bed.folder, 'model'), files as never);
const inputOf = (onNewSpace: 'hold' | 'reindex', rate?: number): Partial<PipelineInput> => ({
  source: { files: { root: 'docs', pollMs: 50 } },
  chain: [{ chunk: { recursive: { maxTokens: 6 } } }, { embed: { onnx: { model: './model' } } }],
  refresh: { watch: './model', everyMs: 100 },
  generations: { onNewSpace, minOverlap: 0.5, ...(rate !== undefined && { rate }) },
});
const statesOf = async (bed: Bed) =>
  (await listGenerations(bed.spec(), { connectors })).map(({ number, state, count }) => ({
    number,
    state,
    documents: count.documents,
  }));

/** A run that watches its folder and its model until it is ended. */
async function start(bed: Bed, onNewSpace: 'hold' | 'reindex', rate?: number) {
  const stop = new AbortController();
  const events: RunEvent[] = [];
  const controls: RunControl[] = [];
  const running = bed.run({
    input: inputOf(onNewSpace, rate),
    watch: true,
    signal: stop.signal,
    onControl: (control) => controls.push(control),
    onEvent: (event) => events.push(event),
  });
  let fault: unknown;
  running.catch((error: unknown) => (fault = error));
  /** Resolves once there is such an event; a run that ended before has a fault to show. */
  const seen = (is: (event: RunEvent) => boolean) =>
    expect.poll(() => fault ?? events.some(is), { timeout: 60_000 }).toBe(true);
  const noticed = (code: string) => seen((event) => event.type === 'notice' && event.code === code);
  await seen(({ type }) => type === 'caught-up');
  return {
    events,
    controls,
    noticed,
    end: async () => {
      stop.abort();
      return running;
    },
  };
}

test('a watched model of another space fills a generation while the run goes on, which then goes on with it', async () => {
  const bed = await openBed();
  await putModel(bed, tinyModelFiles());
  await bed.write({ 'a.md': 'ants', 'b.md': 'bees', 'c.md': 'cows' });
  const run = await start(bed, 'reindex');
  await putModel(bed, turned);
  await run.noticed('generation_switched');
  await bed.write({ 'd.md': 'ants bees' });
  const best = async (text: string) => {
    const retriever = await bed.retriever(inputOf('reindex'));
    const hits = await retriever.retrieve(text, { k: 1 });
    await retriever.close();
    return hits[0]?.documentId;
  };
  await expect
    .poll(async () => (await statesOf(bed))[1], { timeout: 60_000 })
    .toEqual({
      number: 2,
      state: 'active',
      documents: 4,
    });
  expect(await best('cows')).toBe('c.md');
  // Whoever was told of the run can go on with it.
  expect(run.controls).toHaveLength(1);
  const [outcome] = await run.controls[0]!.updateModel({ model: './model' });
  expect(outcome).toMatchObject({ result: 'unchanged' });
  const summary = await run.end();
  expect(summary.end).toBe('drained');
  expect(summary.outcomes).toMatchObject({ stored: 4, failed: 0 });
  // The next start has nothing to do.
  expect((await bed.run({ input: inputOf('hold') })).outcomes).toMatchObject({ unchanged: 4 });
});

test('a model that does not pass the gates leaves the run as it is, and says so; by hold none is tried', async () => {
  const bed = await openBed();
  await putModel(bed, tinyModelFiles());
  await bed.write({ 'a.md': 'ants', 'b.md': 'bees' });
  const run = await start(bed, 'reindex');
  await putModel(bed, flat);
  await run.noticed('generation_refused');
  await bed.write({ 'c.md': 'cows' });
  const active = async () => (await statesOf(bed)).find(({ state }) => state === 'active');
  await expect.poll(active, { timeout: 60_000 }).toEqual({ number: 1, state: 'active', documents: 3 });
  expect((await run.end()).outcomes).toMatchObject({ stored: 3, failed: 0 });

  const other = await openBed();
  await putModel(other, tinyModelFiles());
  await other.write({ 'a.md': 'ants' });
  const held = await start(other, 'hold');
  await putModel(other, turned);
  const refused = () =>
    held.events.some((event) => event.type === 'refresh' && event.error?.code === 'artifact_mismatch');
  await expect.poll(refused, { timeout: 60_000 }).toBe(true);
  expect(await statesOf(other)).toEqual([{ number: 1, state: 'active', documents: 1 }]);
  await held.end();
});

test('a run that is stopped while a generation is filled ends both, and the next run goes on with the filling', async () => {
  const bed = await openBed();
  await putModel(bed, tinyModelFiles());
  await bed.write({ 'a.md': 'ants', 'b.md': 'bees', 'c.md': 'cows' });
  // After its first documents it waits for minutes.
  const run = await start(bed, 'reindex', 1 / 180);
  await putModel(bed, turned);
  await run.noticed('generation_filling');
  await expect.poll(async () => (await statesOf(bed))[1]?.documents, { timeout: 60_000 }).toBeGreaterThan(0);
  expect((await run.end()).end).toBe('drained');
  expect(await statesOf(bed)).toMatchObject([
    { number: 1, state: 'active' },
    { number: 2, state: 'filling' },
  ]);
  await bed.run({ input: inputOf('reindex') });
  expect(await statesOf(bed)).toMatchObject([
    { number: 1, state: 'retired' },
    { number: 2, state: 'active', documents: 3 },
  ]);
});
