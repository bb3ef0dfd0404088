import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { millrace, startMillrace, type Ended } from '../support/millrace-process.js';
import { repositoryRoot } from '../support/repository.js';
import { temporaryFolder, writeFiles } from '../support/temporary-folder.js';

function values({ stdout }: Ended): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('millrace', { timeout: 180_000 }, () => {
  let folder: string;
  const on = (...args: string[]) => millrace(args, { cwd: folder });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
    await writeFiles(folder, {
      'docs/ants.md': '# Ants\n\nAnts live in colonies under the ground.\n',
      'docs/lines.jsonl':
        '{"id":"bees","text":"Bees make honey in a hive.","lang":"en","year":2024}\n' +
        '{"id":"bienen","text":"Bienen machen Honig im Stock.","lang":"de","year":2023}\n' +
        '{broken\n',
    });
    await writeFile(
      join(folder, 'millrace.yaml'),
      'name: cli\nsource: { files: { root: docs } }\nsink: { pglite: { path: store } }\nfailed: { files: { path: failed } }\nworkers: 1\n',
    );
    const ran = await on('run', 'millrace.yaml', '--json');
    expect(ran.code, ran.stderr).toBe(0);
    const events = values(ran);
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['started', 'failed', 'finished']));
    // An error keeps its message on the way into JSON.
    expect(events.find(({ type }) => type === 'failed')).toMatchObject({
      stage: 'source',
      error: { code: 'item_malformed', message: expect.stringContaining('JSON') as string },
    });
    expect(events.at(-1)).toMatchObject({
      type: 'finished',
      summary: { outcomes: { stored: 3, failed: 1 } },
    });
  }, 180_000);
  afterAll(() => rm(folder, { recursive: true }));

  test('query finds the nearest passages, as many as asked for, through a filter', async () => {
    const best = await on('query', 'millrace.yaml', 'Where is honey made?', '-k', '1', '--json');
    expect(values(best)).toMatchObject([{ documentId: expect.stringContaining('bees') as string }]);
    const german = await on(
      'query',
      'millrace.yaml',
      'honey',
      '--filter',
      'lang=de',
      '--filter',
      'year=2023',
      '--json',
    );
    expect(values(german).map(({ metadata }) => metadata)).toMatchObject([{ lang: 'de' }]);
    const people = await on('query', 'millrace.yaml', 'Where do ants live?', '-k', '1');
    expect(people.stdout).toMatch(/^\d\.\d{3} {2}ants\.md \[\d+-\d+\]/);
    expect(people.stdout).toContain('colonies under the ground');
    const since = await on('query', 'millrace.yaml', 'honey', '--filter', '{"year":{"$gte":2024}}', '--json');
    expect(values(since).map(({ metadata }) => metadata)).toMatchObject([{ lang: 'en' }]);
    const alone = await on(
      'query',
      'millrace.yaml',
      'honey',
      '--threshold',
      '0.2',
      '--neighbours',
      '1',
      '--json',
    );
    expect(values(alone)[0]).toMatchObject({
      scoreKind: 'cosine',
      passage: { text: 'Bees make honey in a hive.' },
    });
    for (const flags of [['--tenant', 'acme'], ['--all-tenants']]) {
      const foreign = await on('query', 'millrace.yaml', 'honey', ...flags);
      expect(foreign.code).toBe(2);
      expect(foreign.stderr).toContain('`tenant` of the sink');
    }
    const none = await on('query', 'millrace.yaml', 'honey', '--filter', 'lang=fr');
    expect([none.code, none.stdout, none.stderr.trim()]).toEqual([0, '', 'nothing in the store matches']);
  });

  test('query asks all models of a pipeline, or those of one route', async () => {
    await writeFile(
      join(folder, 'routed.yaml'),
      'name: routed\nsource: { files: { root: docs } }\nsink: { pglite: { path: store } }\nfailed: { files: { path: failed } }\nworkers: 1\n' +
        'chain:\n  - chunk: { markdown: {} }\n  - sparse: { bm25: {} }\n  - embed:\n      route: metadata.lang\n      models:\n' +
        '        de: { static: { model: bundled, prompts: { document: "deutsch: ", query: "deutsch: " } } }\n' +
        '        "*": { static: { model: bundled } }\n',
    );
    const ran = await on('run', 'routed.yaml');
    expect(ran.code, ran.stderr).toBe(0);
    const ids = async (...more: string[]) =>
      values(await on('query', 'routed.yaml', 'honey', '--json', ...more))
        .map(({ documentId }) => String(documentId).split('/').at(-1))
        .sort();
    expect(await ids()).toEqual(['ants.md', 'bees', 'bienen']);
    expect(await ids('--route', 'de')).toEqual(['bienen']);
    expect(await ids('--route', 'en')).toEqual(['ants.md', 'bees']);
    // By the words of the question alone, and both ways.
    expect(await ids('--mode', 'sparse')).toEqual(['bees']);
    expect(await ids('--mode', 'sparse', '--route', 'de')).toEqual([]);
    expect(await ids('--mode', 'hybrid')).toEqual(['ants.md', 'bees', 'bienen']);
    const without = await on('query', 'millrace.yaml', 'honey', '--mode', 'hybrid');
    expect([without.code, without.stderr]).toEqual([
      2,
      expect.stringContaining('holds no words, so it cannot be asked in mode hybrid') as string,
    ]);
    expect((await on('query', 'millrace.yaml', 'honey', '--mode', 'lexical')).code).toBe(2);
  });

  test('failed list, show and discard, by id and for programs', async () => {
    const [record, ...more] = values(await on('failed', 'list', 'millrace.yaml', '--json'));
    expect(more).toEqual([]);
    expect(record).toMatchObject({
      pipeline: 'cli',
      stage: 'source',
      error: { code: 'item_malformed' },
      attempts: 1,
    });
    const id = record!['documentId'] as string;
    expect((await on('failed', 'list', 'millrace.yaml')).stdout).toContain(id);
    expect(values(await on('failed', 'list', 'millrace.yaml', '--code', 'internal', '--json'))).toEqual([]);
    expect(values(await on('failed', 'show', 'millrace.yaml', id, '--json'))).toEqual([record]);
    expect((await on('failed', 'show', 'millrace.yaml', 'nobody')).code).toBe(2);
    expect((await on('failed', 'discard', 'millrace.yaml')).code).toBe(2);
    const purge = (...flags: string[]) => on('failed', 'purge', 'millrace.yaml', '--json', ...flags);
    expect(await purge()).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('--older-than') as string,
    });
    expect((await purge('--older-than', 'long')).code).toBe(2);
    expect(values(await purge('--older-than', '1h'))).toEqual([{ purged: 0 }]);
    expect(values(await on('failed', 'discard', 'millrace.yaml', id, '--json'))).toEqual([{ discarded: 1 }]);
    expect(values(await on('failed', 'list', 'millrace.yaml', '--json'))).toEqual([]);
  });

  test('failed replay brings in what a mended function takes now, by id or all', async () => {
    const own = await temporaryFolder();
    await writeFiles(own, { 'docs/a.md': 'Ants.', 'docs/b.md': 'Bees.' });
    await writeFile(
      join(own, 'config.mjs'),
      `import { existsSync } from 'node:fs';
export default {
  name: 'replay',
  source: { files: { root: 'docs' } },
  sink: { pglite: { path: 'store' } },
  failed: { files: { path: 'failed' } },
  workers: 1,
  chain: [
    { enrich: { name: 'flaky', batch: async (documents) =>
      documents.map(() => existsSync(${JSON.stringify(join(own, 'mended'))}) ? {} : new Error('Not yet.')) } },
    { chunk: { markdown: {} } },
    { embed: { static: { model: 'bundled' } } },
  ],
};`,
    );
    const within = (...args: string[]) => millrace(args, { cwd: own });
    const ran = await within('run', 'config.mjs');
    expect([ran.code, ran.stdout], ran.stderr).toEqual([0, expect.stringContaining('2 failed')]);
    await writeFile(join(own, 'mended'), '');
    const left = async () =>
      values(await within('failed', 'list', 'config.mjs', '--json')).map((at) => at['documentId']);
    const refused = await within('failed', 'replay', 'config.mjs', 'a.md', 'nobody');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('"nobody"') as string]);
    expect((await within('failed', 'replay', 'config.mjs', 'a.md', '--stage', 'embed')).code).toBe(2);
    expect(await left()).toEqual(['a.md', 'b.md']);
    const one = values(await within('failed', 'replay', 'config.mjs', 'b.md', 'b.md', '--json'));
    expect(one).toMatchObject([{ runs: [{ outcomes: { stored: 1 } }], unreadable: [] }]);
    expect(await left()).toEqual(['a.md']);
    const replayed = values(await within('failed', 'replay', 'config.mjs', '--json'));
    expect(replayed).toMatchObject([{ runs: [{ outcomes: { stored: 1 } }], unreadable: [] }]);
    expect(await left()).toEqual([]);
  });

  test('check looks at everything and writes nothing', async () => {
    const own = await temporaryFolder();
    await writeFiles(own, {
      'docs/a.md': 'Ants.',
      'millrace.yaml': 'name: check\nsource: { files: { root: docs } }\n',
    });
    const before = await readdir(own, { recursive: true });
    const checked = await millrace(['check', 'millrace.yaml', '--json'], { cwd: own });
    expect(checked.code, checked.stderr).toBe(0);
    expect(values(checked)).toMatchObject([
      { part: 'source', detail: expect.stringContaining('a.md') as string },
      { part: 'model', detail: expect.stringContaining('256 components') as string },
      { part: 'store', detail: 'nothing stored yet' },
      { part: 'failed', detail: 'can be read; there is none' },
    ]);
    expect(await readdir(own, { recursive: true })).toEqual(before);
  });

  test('check names what the first run would fetch: a misspelt folder reads like a model of the hub', async () => {
    const own = await temporaryFolder();
    await writeFiles(own, {
      'docs/a.md': 'Ants.',
      'millrace.yaml':
        'name: check\nsource: { files: { root: docs } }\nmodels: { cacheFolder: cache }\nchain: [{ chunk: { markdown: {} } }, { embed: { static: { model: models/mine } } }]\n',
    });
    const checked = await millrace(['check', 'millrace.yaml', '--json'], { cwd: own });
    expect(checked.code, checked.stderr).toBe(0);
    expect(values(checked)[1]!['detail']).toContain('fetches from the hub models/mine');
  });

  test('check tells what is wrong with each part', async () => {
    const own = await temporaryFolder();
    await writeFiles(own, {
      'millrace.yaml':
        'name: check\nsource: { files: { root: nowhere } }\nchain: [{ chunk: { markdown: {} } }, { embed: { static: { model: ./none } } }]\n',
    });
    const checked = await millrace(['check', 'millrace.yaml', '--json'], { cwd: own });
    expect(checked.code).toBe(1);
    expect(values(checked)).toMatchObject([
      { part: 'source', error: { code: 'source_unavailable' } },
      { part: 'model', error: { code: 'model_not_found' } },
      { part: 'store', detail: 'nothing stored yet' },
      { part: 'failed', detail: 'can be read; there is none' },
    ]);
    expect(await readdir(own)).toEqual(['millrace.yaml']);
  });

  test('check finds a model of one’s own whose vectors no store would take', async () => {
    const own = await temporaryFolder();
    await writeFiles(own, {
      'docs/a.md': 'Ants.',
      'config.mjs': `const prompts = { document: '', query: '' };
const identity = { name: 'narrow', weights: '1', tokenizer: 'remote', pooling: 'remote', normalize: false, prompts, width: 4, dtype: 'fp32' };
const load = async () => ({
  identity, tokenizer: undefined, maxTokens: 64, batchInvariant: true, concurrency: 1,
  batching: { padded: false, tokens: 64, texts: 8 },
  embed: async (texts) => ({ modelId: '1', width: 4, vectors: texts.map(() => Float32Array.of(1, 2, 3)) }),
  close: async () => undefined,
});
export default {
  name: 'check', source: { files: { root: 'docs' } },
  chain: [{ chunk: { markdown: {} } }, { embed: { own: { load } } }],
};`,
    });
    const checked = await millrace(['check', 'config.mjs', '--json'], { cwd: own });
    expect(checked.code).toBe(1);
    expect(values(checked)[1]).toMatchObject({
      part: 'model',
      error: { code: 'embedding_invalid', message: expect.stringContaining('3 components') as string },
    });
  });

  test('a run whose output nobody reads any more is finished all the same', async () => {
    const own = await temporaryFolder();
    await writeFiles(own, {
      'docs/a.md': 'Ants.',
      'millrace.yaml': 'name: unread\nsource: { files: { root: docs } }\n',
    });
    const run = startMillrace(['run', 'millrace.yaml', '--json'], { cwd: own });
    run.child.stdout!.destroy();
    run.child.stderr!.destroy();
    expect((await run.ended).code).toBe(0);
    const found = await millrace(['query', 'millrace.yaml', 'ants', '--json'], { cwd: own });
    expect(values(found)).toMatchObject([{ documentId: 'a.md' }]);
  });

  test('a query of a store that nobody filled says so and makes none', async () => {
    const own = await temporaryFolder();
    await writeFiles(own, { 'millrace.yaml': 'name: empty\nsource: { files: { root: docs } }\n' });
    const { code, stderr } = await millrace(['query', 'millrace.yaml', 'ants'], { cwd: own });
    expect(code).toBe(1);
    expect(stderr).toContain('Fill the store first with `millrace run`.');
    expect(await readdir(own)).toEqual(['millrace.yaml']);
  });

  test('models list and verify, doctor, version and help', async () => {
    const home = await temporaryFolder();
    const env = { PATH: process.env['PATH'], HOME: home };
    const { version } = JSON.parse(await readFile(join(repositoryRoot, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(values(await millrace(['models', 'list', '--json'], { env }))).toMatchObject([
      { name: 'bundled' },
    ]);
    const verified = await millrace(['models', 'verify', '--json'], { env });
    expect(verified.code, verified.stderr).toBe(0);
    const files = (values(verified)[0]!['files'] as { path: string; state: string }[]).map(
      ({ state }) => state,
    );
    expect(files).toContain('intact');
    const doctor = await millrace(['doctor', '--json'], { env });
    expect(doctor.code, doctor.stderr).toBe(0);
    expect(values(doctor)).toEqual(
      expect.arrayContaining([expect.objectContaining({ what: 'bundled model', well: true })]),
    );
    expect((await millrace(['--version'], { env })).stdout.trim()).toBe(version);
    const help = await millrace(['--help'], { env });
    expect(help.code).toBe(0);
    for (const command of ['run', 'check', 'query', 'failed', 'models', 'doctor'])
      expect(help.stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
    expect((await millrace(['run', '--help'], { env })).stdout).toContain('--allow-mass-deletion');
    expect(await readdir(home)).toEqual([]);
  });

  test('a wrong command line or configuration ends with 2, and nothing is started', async () => {
    const wrong = [
      ['bogus'],
      ['run'],
      ['run', 'nowhere.yaml'],
      ['query', 'millrace.yaml', 'ants', '-k', '0'],
      ['query', 'millrace.yaml', 'ants', '--filter', 'lang'],
      ['query', 'millrace.yaml', 'ants', '--filter', '{lang: en}'],
      ['query', 'millrace.yaml', 'ants', '--filter', '{"lang": {"$is": 1}}'],
      ['query', 'millrace.yaml', 'ants', '--threshold', 'high'],
      ['query', 'millrace.yaml', '  '],
      ['failed', 'list', 'millrace.yaml', '--stage', 'nowhere'],
    ];
    const codes = await Promise.all(wrong.map(async (args) => [args.join(' '), (await on(...args)).code]));
    expect(codes).toEqual(wrong.map((args) => [args.join(' '), 2]));
    expect(values(await on('run', 'nowhere.yaml', '--json'))).toMatchObject([
      { error: { code: 'config_invalid' } },
    ]);
  });
});

test('a function of the configuration that never ends is told of, where nothing else is under way', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, {
    'docs/a.md': 'Ants.',
    'millrace.config.mjs': `export default {
      name: 'stuck',
      source: { files: { root: 'docs' } },
      chain: [{ chunk: { markdown: {} } }, { embed: { own: { load: () => new Promise(() => undefined) } } }],
    };`,
  });
  const { code, stderr } = await millrace(['run', join(folder, 'millrace.config.mjs')], { cwd: folder });
  expect(code).toBe(1);
  expect(stderr).toContain('never ended');
});
