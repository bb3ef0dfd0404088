import { rename, rm } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import type { PipelineInput } from '../../src/config/schema.js';
import type { Delivery, Source } from '../../src/contracts/source.js';
import type { RunEvent } from '../../src/observability/events.js';
import type { RunControl } from '../../src/runtime/start-refresh.js';
import { startPostgres } from '../support/services/postgres.js';
import { startRedis } from '../support/services/redis.js';
import { startHub } from '../support/hub.js';
import { tinyClassifierFiles } from '../support/tiny-classifier.js';
import { tinyModelFiles, tinyTable } from '../support/tiny-model.js';
import { writeFiles } from '../support/temporary-folder.js';
import { document, usePglite, type Bed } from './bed.js';

const openBed = usePglite();

type RefreshEvent = Extract<RunEvent, { type: 'refresh' }>;

/** A classifier whose labels begin with this word. */
const labelled = (word: string) =>
  tinyClassifierFiles({
    config: { id2label: Object.fromEntries([0, 1, 2, 3].map((at) => [at, `${word} ${at}`])) },
  });

/** A source that hands over one document after the other until it is told to end. */
function endless() {
  let over = false;
  let settled = 0;
  const source: Source = {
    name: 'log',
    async *deliveries(): AsyncGenerator<Delivery> {
      for (let n = 0; !over; n += 1) {
        const elements = [document(`d${n}`, 1, `ants bees ${n}`)];
        const done = new Promise<void>((resolve) => {
          waiting = resolve;
        });
        yield { kind: 'elements', elements, settle: async () => (settled++, waiting()) };
        await done;
      }
    },
  };
  let waiting: () => void = () => undefined;
  return {
    source,
    end: () => (over = true),
    /** Resolves once so many more documents are settled. */
    more: async (count: number) => {
      const enough = settled + count;
      await expect.poll(() => settled, { timeout: 20_000, interval: 5 }).toBeGreaterThanOrEqual(enough);
    },
  };
}

interface Running {
  readonly control: RunControl;
  readonly refreshes: RefreshEvent[];
  readonly notices: string[];
  more(documents: number): Promise<void>;
  /** The next refresh that ends. */
  refreshed(count: number): Promise<RefreshEvent>;
  end(): Promise<void>;
}

async function start(bed: Bed, input: Partial<PipelineInput>): Promise<Running> {
  const { source, end, more } = endless();
  const refreshes: RefreshEvent[] = [];
  const notices: string[] = [];
  let control: RunControl | undefined;
  const running = bed.run({
    source,
    input,
    onControl: (given) => (control = given),
    onEvent: (event) => {
      if (event.type === 'refresh') refreshes.push(event);
      if (event.type === 'notice') notices.push(event.code);
    },
  });
  let fault: unknown;
  running.catch((error: unknown) => (fault = error));
  await expect.poll(() => fault ?? control, { timeout: 20_000, interval: 5 }).toBeDefined();
  if (fault !== undefined) throw fault;
  return {
    control: control!,
    refreshes,
    notices,
    more,
    refreshed: async (count) => {
      await expect
        .poll(() => refreshes.length, { timeout: 20_000, interval: 5 })
        .toBeGreaterThanOrEqual(count);
      return refreshes[count - 1]!;
    },
    end: async () => {
      end();
      const summary = await running;
      expect(summary.outcomes.failed).toBe(0);
    },
  };
}

const chunk = { chunk: { recursive: { maxTokens: 6 } } };
const embed = { embed: { static: { model: 'bundled' } } };
const topics = (model: string) => ({
  infer: { name: 'topic', to: 'metadata.topic', model: { onnx: { model } } },
});

/** A model, and one to take its place. */
async function writeTopics({ folder }: Bed): Promise<void> {
  await writeFiles(join(folder, 'topics'), labelled('old'));
  await writeFiles(join(folder, 'topics-2'), labelled('new'));
}

/** Labels with the ids of the models that they say made them. */
async function labels(bed: Bed): Promise<[string, string][]> {
  const { chunks } = await bed.content();
  const all = chunks.map(({ metadata }) => {
    const { label, modelId } = (metadata as { topic: { label: string; modelId: string } }).topic;
    return `${label.split(' ')[0]} ${modelId}`;
  });
  return [...new Set(all)].map((one) => one.split(' ') as [string, string]).sort();
}

test('a watched folder: when other files come to rest there, the model changes and nothing else', async () => {
  const bed = await openBed();
  const path = join(bed.folder, 'topics');
  await writeFiles(path, labelled('old'));
  const run = await start(bed, {
    chain: [topics('./topics'), chunk, embed],
    refresh: { watch: './topics', everyMs: 50 },
  });
  expect((await run.refreshed(1)).result).toBe('unchanged');
  await run.more(3);
  // In place, file by file, as a copy does.
  await writeFiles(path, labelled('new'));
  const event = await run.refreshed(2);
  expect(event).toMatchObject({ model: './topics', result: 'switched' });
  await run.more(3);
  // Half a model, or none, changes nothing.
  await rm(join(path, 'tokenizer.json'));
  expect(await run.refreshed(3)).toMatchObject({
    result: 'refused',
    from: event.to,
    to: event.to,
    error: { code: 'model_unsupported' },
  });
  await run.more(3);
  await run.end();
  expect(await labels(bed)).toEqual([
    ['new', event.to],
    ['old', event.from],
  ]);
  // The next run starts with what the folder holds then: the chain remembers that the model may change.
  await writeFiles(path, labelled('third'));
  const next = await start(bed, {
    chain: [topics('./topics'), chunk, embed],
    refresh: { watch: './topics', everyMs: 50 },
  });
  await next.end();
});

test('a call: only what the configuration lists is exchanged, with digests checked', async () => {
  const bed = await openBed();
  await writeTopics(bed);
  await writeFiles(join(bed.folder, 'stranger'), labelled('strange'));
  const weights = createHash('sha256').update(labelled('new')['onnx/model.onnx']!).digest('hex');
  const run = await start(bed, {
    chain: [topics('./topics'), chunk, embed],
    refresh: { allow: [{ model: './topics-2', replaces: './topics', weights }] },
  });
  await run.more(2);
  await expect(run.control.updateModel({ model: './stranger' })).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining('./stranger') as string,
    hint: expect.stringContaining('refresh.allow') as string,
  });
  await expect(run.control.updateModel({ model: './topics-2', revision: 'main' })).rejects.toMatchObject({
    code: 'config_invalid',
  });
  await expect(
    run.control.updateModel({ model: './topics-2', weights: weights.replaceAll(/./g, '0') }),
  ).rejects.toMatchObject({ code: 'config_invalid', message: expect.stringContaining('digest') as string });
  const [mistaken] = await run.control.updateModel({ model: './topics', weights: 'f'.repeat(64) });
  expect(mistaken).toMatchObject({ result: 'refused', error: { code: 'model_corrupt' } });
  const [outcome] = await run.control.updateModel({ model: './topics-2' });
  expect(outcome).toMatchObject({ result: 'switched' });
  expect(await run.control.updateModel({ model: './topics-2', weights })).toMatchObject([
    { result: 'unchanged' },
  ]);
  await run.more(2);
  await run.end();
  expect((await labels(bed)).map(([label]) => label)).toEqual(['new', 'old']);
});

/** Places that tell of models: where they are, and how something is told there. */
const tellers = {
  'a Postgres server': async () => {
    const server = await startPostgres();
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return {
      events: { postgres: { url: server.url } },
      tell: (model: string) =>
        client.query('select pg_notify($1, $2)', ['millrace_models', JSON.stringify({ model })]),
      stop: async () => {
        await client.end();
        await server.stop();
      },
    };
  },
  'a Redis stream': async () => {
    const redis = await startRedis();
    return {
      events: { redis: { url: redis.url, stream: 'models' } },
      tell: (model: string) => redis.client.xadd('models', '*', 'model', model),
      stop: () => redis.stop(),
    };
  },
};

test.each(Object.entries(tellers))(
  'news from %s: what is listed is exchanged, what is not is told and passed over',
  async (_, open) => {
    const bed = await openBed();
    const { events, tell, stop } = await open();
    try {
      await writeTopics(bed);
      const run = await start(bed, {
        chain: [topics('./topics'), chunk, embed],
        refresh: { allow: [{ model: './topics-2', replaces: './topics' }], events },
      });
      await run.more(1);
      // It listens from some moment on; what is told before is not heard.
      await expect
        .poll(
          async () => {
            await tell('./stranger');
            return run.notices;
          },
          { timeout: 20_000, interval: 100 },
        )
        .toContain('model_update_refused');
      await tell('./topics-2');
      expect(await run.refreshed(1)).toMatchObject({ model: './topics', result: 'switched' });
      await run.more(1);
      await run.end();
      expect((await labels(bed)).map(([label]) => label)).toEqual(['new', 'old']);
    } finally {
      await stop();
    }
  },
  60_000,
);

test('two steps with one model share it, and change together', async () => {
  const bed = await openBed();
  await writeTopics(bed);
  const again = { infer: { ...topics('./topics').infer, name: 'again', to: 'metadata.again' } };
  const run = await start(bed, {
    chain: [topics('./topics'), again, chunk, embed],
    // Only one is ever loaded beside the embedder: the other step waits for the same exchange.
    models: { maxLoaded: 2 },
    refresh: { allow: [{ model: './topics-2', replaces: './topics' }] },
  });
  await run.more(2);
  expect(await run.control.updateModel({ model: './topics-2' })).toMatchObject([{ result: 'switched' }]);
  await run.more(2);
  await run.end();
  const { chunks } = await bed.content();
  const pairs = chunks.map(({ metadata }) => {
    const { topic, again } = metadata as Record<string, { label: string; modelId: string }>;
    return [topic!, again!].map(({ label, modelId }) => `${label.split(' ')[0]} ${modelId}`);
  });
  // Steps run one after the other: a document may be between two models, but no label is another model's.
  const known = new Set(pairs.flat());
  expect([...known].map((one) => one.split(' ')[0]).sort()).toEqual(['new', 'old']);
});

test('an embedder that fills the store keeps its space: another is refused, and the old one serves on', async () => {
  const bed = await openBed();
  const path = join(bed.folder, 'tiny');
  await writeFiles(path, tinyModelFiles());
  const run = await start(bed, {
    chain: [chunk, { embed: { onnx: { model: './tiny' } } }],
    refresh: { watch: ['./tiny'], everyMs: 50 },
  });
  await run.refreshed(1);
  const doubled = tinyTable.map((row) => row.map((value) => value * 2));
  await writeFiles(join(bed.folder, 'next'), tinyModelFiles({ table: doubled }));
  await rename(path, join(bed.folder, 'before'));
  await rename(join(bed.folder, 'next'), path);
  const event = await run.refreshed(2);
  expect(event).toMatchObject({
    result: 'refused',
    error: { code: 'artifact_mismatch', hint: expect.stringContaining('onNewSpace: reindex') as string },
  });
  await run.more(3);
  await run.end();
});

/** A commit of the model that the hub has. */
const commit = (name: string, files: Record<string, Buffer>) => ({
  id: 'owner/topics',
  branch: 'main',
  commit: createHash('sha1').update(name).digest('hex'),
  files,
});

/** A pipeline with that model, which it watches. */
const watchingHub = (hubUrl: string, everyMs = 50): Partial<PipelineInput> => ({
  chain: [topics('owner/topics'), chunk, embed],
  models: { hubUrl },
  refresh: { watch: 'owner/topics', everyMs },
});

test('a watched branch of the hub: the new commit serves, and is remembered only then', async () => {
  const bed = await openBed();
  const hub = await startHub(commit('one', labelled('old')));
  try {
    const input = watchingHub(hub.url);
    const run = await start(bed, input);
    expect(await run.refreshed(1)).toMatchObject({ result: 'unchanged' });
    hub.publish(commit('two', { ...labelled('bad'), 'onnx/model.onnx': Buffer.from('no model') }));
    expect(await run.refreshed(2)).toMatchObject({ result: 'refused', error: { code: 'model_corrupt' } });
    await run.more(2);
    await run.end();
    // A new start still takes the commit that served.
    const again = await start(bed, watchingHub(hub.url, 60_000));
    await again.more(1);
    await again.end();
    const third = await start(bed, input);
    hub.publish(commit('three', labelled('new')));
    await expect
      .poll(() => third.refreshes.some(({ result }) => result === 'switched'), { timeout: 20_000 })
      .toBe(true);
    await third.more(2);
    await third.end();
    expect((await labels(bed)).map(([label]) => label)).toContain('new');
  } finally {
    await hub.close();
  }
});

test('a commit that could not be fetched for an outage of the hub is fetched at a later look', async () => {
  const bed = await openBed();
  const hub = await startHub(commit('one', labelled('old')));
  try {
    const run = await start(bed, watchingHub(hub.url));
    expect(await run.refreshed(1)).toMatchObject({ result: 'unchanged' });
    hub.fail('config.json', { kind: 'cut', after: 0 }, { kind: 'cut', after: 0 });
    hub.publish(commit('two', labelled('new')));
    expect(await run.refreshed(2)).toMatchObject({
      result: 'refused',
      error: { code: 'remote_unavailable' },
    });
    await expect.poll(() => run.refreshes.at(-1)?.result, { timeout: 10_000 }).toBe('switched');
    await run.more(1);
    await run.end();
  } finally {
    await hub.close();
  }
});

test('a folder that vanishes is not taken for a model of the hub with the same name', async () => {
  const bed = await openBed();
  const path = join(bed.folder, 'owner/topics');
  await writeFiles(path, labelled('old'));
  const hub = await startHub(commit('stranger', labelled('strange')));
  try {
    const run = await start(bed, watchingHub(hub.url));
    expect(await run.refreshed(1)).toMatchObject({ result: 'unchanged' });
    await rm(path, { recursive: true });
    expect(await run.refreshed(2)).toMatchObject({ result: 'refused', error: { code: 'model_not_found' } });
    expect(hub.requests).toEqual([]);
    await run.end();
  } finally {
    await hub.close();
  }
});

test('a name that the chain has not is refused at the start', async () => {
  const bed = await openBed();
  await expect(start(bed, { chain: [chunk, embed], refresh: { watch: './absent' } })).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining('./absent') as string,
  });
});
