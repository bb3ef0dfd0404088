import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Notice } from '../../../src/contracts/context.js';
import { listModels } from '../../../src/inference/models/list-models.js';
import {
  bundledFolder,
  resolveModel,
  type ResolveModelOptions,
} from '../../../src/inference/models/resolve-model.js';
import { verifyModel } from '../../../src/inference/models/verify-model.js';
import { startHub, type HubDouble, type HubRepository } from '../../support/hub.js';

const weights = randomBytes(3_000_000);
const commit = createHash('sha1').update('first').digest('hex');
const repository: HubRepository = {
  id: 'owner/tiny',
  branch: 'main',
  commit,
  files: {
    'config.json': Buffer.from('{"hidden_size":8}'),
    'tokenizer.json': Buffer.from('{"model":{}}'),
    'README.md': Buffer.from('# tiny'),
    'onnx/model.onnx': weights,
    'onnx/model_int8.onnx': randomBytes(1000),
  },
};
const wanted = ['config.json', 'tokenizer.json', 'onnx/model.onnx'];
const weightsPath = '/onnx/model.onnx';
const pullChild = fileURLToPath(new URL('./pull-child.js', import.meta.url));

let folder: string;
let cacheFolder: string;
let hub: HubDouble;
let notices: Notice[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-models-'));
  cacheFolder = join(folder, 'hub');
  hub = await startHub(repository);
  notices = [];
});
afterEach(async () => {
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});

function resolve(model: string, options: Partial<ResolveModelOptions> = {}) {
  return resolveModel(model, {
    cacheFolder,
    baseFolder: folder,
    hubUrl: hub.url,
    select: () => wanted,
    onNotice: (notice) => notices.push(notice),
    ...options,
  });
}

const served = () => hub.requests.filter(({ path }) => path === weightsPath);
const blobFolder = () => join(cacheFolder, 'models--owner--tiny', 'blobs');

describe('a model of the hub', () => {
  test('comes with the wanted files only, in the layout that Python tools share', async () => {
    const model = await resolve('owner/tiny');
    expect(model).toMatchObject({ name: 'owner/tiny', revision: commit });
    expect([...model.files.keys()]).toEqual(wanted);
    expect(model.path).toBe(join(cacheFolder, 'models--owner--tiny', 'snapshots', commit));
    expect((await readFile(join(model.path, 'onnx/model.onnx'))).equals(weights)).toBe(true);
    const sha256 = createHash('sha256').update(weights).digest('hex');
    expect(model.files.get('onnx/model.onnx')).toEqual({ bytes: weights.length, sha256 });
    expect(await realpath(join(model.path, 'onnx/model.onnx'))).toBe(
      join(await realpath(blobFolder()), sha256),
    );
    expect(await readFile(join(cacheFolder, 'models--owner--tiny', 'refs', 'main'), 'utf8')).toBe(commit);
    expect(hub.requests.some(({ path }) => path.includes('int8') || path.includes('README'))).toBe(false);
  });

  test('reports bytes up to the sum of the wanted files', async () => {
    const seen: number[] = [];
    let total = 0;
    await resolve('owner/tiny', {
      onProgress: ({ bytesDone, bytesTotal }) => {
        seen.push(bytesDone);
        total = bytesTotal;
      },
    });
    expect(total).toBe(wanted.reduce((sum, path) => sum + repository.files[path]!.length, 0));
    expect(seen.at(-1)).toBe(total);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.length).toBeGreaterThan(wanted.length);
  });

  test('is not asked for again once it is whole, whatever its branch does', async () => {
    await resolve('owner/tiny');
    expect(notices.map(({ code }) => code)).toEqual(['model_revision_resolved']);
    const next = createHash('sha1').update('second').digest('hex');
    hub.publish({ ...repository, commit: next });
    const before = hub.requests.length;
    expect((await resolve('owner/tiny')).revision).toBe(commit);
    expect(hub.requests.length).toBe(before);
    expect((await resolve('owner/tiny', { refresh: true })).revision).toBe(next);
    expect((await resolve('owner/tiny')).revision).toBe(next);
    expect((await resolve('owner/tiny', { revision: commit })).revision).toBe(commit);
  });

  test('needs no network when it is cached, and names what is missing when it is not', async () => {
    await expect(resolve('owner/tiny', { offline: true })).rejects.toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining('owner/tiny'),
      hint: expect.stringContaining('pull'),
    });
    await resolve('owner/tiny');
    const before = hub.requests.length;
    await resolve('owner/tiny', { offline: true });
    await resolve('owner/tiny', { offline: true, revision: commit });
    await expect(
      resolve('owner/tiny', { offline: true, select: () => ['onnx/model_int8.onnx'] }),
    ).rejects.toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining('onnx/model_int8.onnx'),
    });
    expect(hub.requests.length).toBe(before);
  });

  test('that another tool put into the cache is taken from there', async () => {
    await resolve('owner/tiny', { revision: commit });
    const model = join(cacheFolder, 'models--owner--tiny');
    await rm(join(model, '.millrace'), { recursive: true });
    await mkdir(join(model, 'refs'), { recursive: true });
    await writeFile(join(model, 'refs', 'main'), commit);
    const found = await resolve('owner/tiny', { offline: true, select: (paths) => paths });
    expect([...found.files.keys()].sort()).toEqual(wanted.toSorted());
    expect(found.revision).toBe(commit);
  });

  test('that is gated is fetched with the token, which is not shown to the content server', async () => {
    hub.publish({ ...repository, token: 'secret' });
    await expect(resolve('owner/tiny')).rejects.toMatchObject({
      code: 'model_not_found',
      hint: expect.stringContaining('token'),
    });
    await resolve('owner/tiny', { token: 'secret' });
    expect(served()).toHaveLength(1);
  });

  test('that does not exist, or not at this revision, is not found', async () => {
    await expect(resolve('owner/none')).rejects.toMatchObject({ code: 'model_not_found' });
    const other = '0'.repeat(40);
    await expect(resolve('owner/tiny', { revision: other })).rejects.toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining(other),
    });
  });

  test('cannot be fetched from a hub that is away: remote_unavailable', async () => {
    await hub.close();
    await expect(resolve('owner/tiny')).rejects.toMatchObject({ code: 'remote_unavailable' });
    hub = await startHub(repository);
  });
});

describe('a broken download', () => {
  test('goes on where the connection was cut', async () => {
    hub.fail(weightsPath.slice(1), { kind: 'cut', after: 1_000_000 }, { kind: 'cut', after: 500_000 });
    const model = await resolve('owner/tiny');
    expect((await readFile(join(model.path, 'onnx/model.onnx'))).equals(weights)).toBe(true);
    const ranges = served().map(({ range }) => Number(/\d+/.exec(range ?? '0')?.[0]));
    expect(ranges).toHaveLength(3);
    expect(ranges[0]).toBe(0);
    expect(ranges[1]).toBeGreaterThan(0);
    expect(ranges[2]).toBeGreaterThan(ranges[1]!);
  });

  test('is given up as remote_unavailable when a connection brings nothing, and can be tried again', async () => {
    hub.fail(weightsPath.slice(1), { kind: 'cut', after: 1_000_000 }, { kind: 'cut', after: 0 });
    await expect(resolve('owner/tiny')).rejects.toMatchObject({
      code: 'remote_unavailable',
      message: expect.stringContaining('onnx/model.onnx'),
    });
    expect((await verifyModel(join(cacheFolder, 'models--owner--tiny', 'snapshots', commit))).length).toBe(2);
    await expect(resolve('owner/tiny', { offline: true })).rejects.toMatchObject({ code: 'model_not_found' });
    await rm(blobFolder(), { recursive: true });
    await resolve('owner/tiny');
  });

  test('that was given up goes on where it ended when the same process tries again', async () => {
    hub.fail(weightsPath.slice(1), { kind: 'cut', after: 1_000_000 }, { kind: 'cut', after: 0 });
    await expect(resolve('owner/tiny')).rejects.toMatchObject({ code: 'remote_unavailable' });
    await resolve('owner/tiny');
    expect(Number(/\d+/.exec(served().at(-1)!.range ?? '0')?.[0])).toBeGreaterThan(0);
    expect((await readdir(blobFolder())).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('of a killed process goes on in the next one', async () => {
    hub.fail(weightsPath.slice(1), { kind: 'stall', after: 2_000_000 });
    const child = spawn(process.execPath, [pullChild, hub.url, cacheFolder, 'owner/tiny', commit]);
    const ended = once(child, 'exit');
    for await (const bytes of createInterface({ input: child.stdout }))
      if (Number(bytes) >= 2_000_000) child.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect((await readdir(blobFolder())).filter((name) => name.endsWith('.part'))).toHaveLength(1);

    const model = await resolve('owner/tiny', { revision: commit });
    expect((await readFile(join(model.path, 'onnx/model.onnx'))).equals(weights)).toBe(true);
    expect(served().map(({ range }) => range)).toEqual([undefined, 'bytes=2000000-']);
    expect((await readdir(blobFolder())).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('of a killed process that left other bytes begins anew', async () => {
    const sha256 = createHash('sha256').update(weights).digest('hex');
    await mkdir(blobFolder(), { recursive: true });
    // Process ids end far below this one.
    const left = `${sha256}.${(await import('node:os')).hostname().replace(/[^\w-]/g, '-')}.99999999.0.part`;
    await writeFile(join(blobFolder(), left), Buffer.alloc(2_500_000));
    const model = await resolve('owner/tiny');
    expect((await readFile(join(model.path, 'onnx/model.onnx'))).equals(weights)).toBe(true);
    expect(served().map(({ range }) => range)).toEqual(['bytes=2500000-', undefined]);
  });

  test('with altered bytes is model_corrupt and leaves nothing behind', async () => {
    hub.fail(weightsPath.slice(1), { kind: 'corrupt' });
    await expect(resolve('owner/tiny')).rejects.toMatchObject({
      code: 'model_corrupt',
      message: expect.stringContaining('onnx/model.onnx'),
    });
    await resolve('owner/tiny');
    expect(await readdir(blobFolder())).toHaveLength(wanted.length);
  });

  test('stops at once when it is aborted', async () => {
    hub.fail(weightsPath.slice(1), { kind: 'stall', after: 10 });
    const stop = new AbortController();
    const pulling = resolve('owner/tiny', {
      signal: stop.signal,
      onProgress: ({ file }) => file === weightsPath.slice(1) && stop.abort(new Error('enough')),
    });
    await expect(pulling).rejects.toThrow('enough');
  });

  test('two processes that pull at once both end with the whole model', async () => {
    const pull = () =>
      promisify(execFile)(process.execPath, [pullChild, hub.url, cacheFolder, 'owner/tiny', 'main']);
    await Promise.all([pull(), pull(), resolve('owner/tiny'), resolve('owner/tiny')]);
    const [model] = await listModels(cacheFolder);
    const checks = await verifyModel(model!.path);
    expect(checks.map(({ path }) => path)).toEqual(Object.keys(repository.files).toSorted());
    expect(checks.every(({ state }) => state === 'intact')).toBe(true);
    expect(await readdir(blobFolder())).toHaveLength(Object.keys(repository.files).length);
  });
});

describe('a cached file that was truncated', () => {
  beforeEach(async () => {
    const model = await resolve('owner/tiny');
    await truncate(join(model.path, 'onnx/model.onnx'), weights.length / 5);
    notices.length = 0;
  });

  test('is set aside and fetched again', async () => {
    const model = await resolve('owner/tiny');
    expect((await readFile(join(model.path, 'onnx/model.onnx'))).equals(weights)).toBe(true);
    expect(notices.map(({ code }) => code)).toEqual(['model_file_replaced']);
    expect((await readdir(blobFolder())).filter((name) => name.endsWith('.corrupt'))).toHaveLength(1);
  });

  test('is named when the network is switched off', async () => {
    await expect(resolve('owner/tiny', { offline: true })).rejects.toMatchObject({
      code: 'model_corrupt',
      message: expect.stringContaining('onnx/model.onnx'),
      hint: expect.stringContaining('network'),
    });
  });

  test('is found by verifying', async () => {
    const [model] = await listModels(cacheFolder);
    expect(model).toMatchObject({ name: 'owner/tiny', revision: commit });
    expect(await verifyModel(model!.path)).toEqual([
      { path: 'config.json', bytes: 17, state: 'intact' },
      { path: 'onnx/model.onnx', bytes: weights.length / 5, state: 'altered' },
      { path: 'tokenizer.json', bytes: 12, state: 'intact' },
    ]);
    const sha256 = createHash('sha256').update(weights).digest('hex');
    await rm(join(blobFolder(), sha256));
    expect((await verifyModel(model!.path))[1]).toMatchObject({ path: 'onnx/model.onnx', state: 'missing' });
  });
});

describe('a folder', () => {
  beforeEach(async () => {
    await mkdir(join(folder, 'owner', 'local'), { recursive: true });
    await writeFile(join(folder, 'owner', 'local', 'config.json'), '{}');
  });
  const select = () => ['config.json'];

  test('is taken by absolute path, by a path with a dot, and by name when it exists', async () => {
    for (const model of [join(folder, 'owner', 'local'), './owner/local', 'owner/local']) {
      const found = await resolve(model, { select });
      expect(found).toMatchObject({ name: 'local', path: join(folder, 'owner', 'local') });
      expect(found.revision).toBeUndefined();
      expect(found.files.get('config.json')?.sha256).toBe(createHash('sha256').update('{}').digest('hex'));
    }
    expect(hub.requests).toEqual([]);
  });

  test('is checked against its SHA256SUMS', async () => {
    const sums = (content: string) =>
      `${createHash('sha256').update(content).digest('hex')}  config.json\n${'0'.repeat(64)} *gone.bin\n`;
    await writeFile(join(folder, 'owner', 'local', 'SHA256SUMS'), sums('{}'));
    await resolve('./owner/local', { select });
    await writeFile(join(folder, 'owner', 'local', 'SHA256SUMS'), sums('{ }'));
    await expect(resolve('./owner/local', { select })).rejects.toMatchObject({
      code: 'model_corrupt',
      message: expect.stringContaining('config.json'),
    });
    expect(await verifyModel(join(folder, 'owner', 'local'))).toEqual([
      { path: 'SHA256SUMS', bytes: expect.any(Number), state: 'unchecked' },
      { path: 'config.json', bytes: 2, state: 'altered' },
      { path: 'gone.bin', bytes: 0, state: 'missing' },
    ]);
  });

  test('with a file that is a link to nothing, or no file, says which one', async () => {
    await symlink('/nowhere/at/all', join(folder, 'owner', 'local', 'vocab.txt'));
    const select = () => ['vocab.txt'];
    await expect(resolve('./owner/local', { select })).rejects.toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining(join('local', 'vocab.txt')) as string,
    });
    await rm(join(folder, 'owner', 'local', 'vocab.txt'));
    await symlink(tmpdir(), join(folder, 'owner', 'local', 'vocab.txt'));
    await expect(resolve('./owner/local', { select })).rejects.toMatchObject({
      code: 'model_corrupt',
      message: expect.stringContaining('EISDIR') as string,
      hint: expect.any(String) as string,
    });
  });

  test('that is not there is not found; a name that is neither folder nor hub id is a wrong configuration', async () => {
    await expect(resolve('./owner/none')).rejects.toMatchObject({ code: 'model_not_found' });
    await expect(resolve('mini')).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(resolve('bundled', { revision: 'main' })).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(resolve('../up', { revision: 'main' })).rejects.toMatchObject({ code: 'config_invalid' });
  });
});

test('the bundled model is whole', async () => {
  const select = () => ['model.safetensors', 'tokenizer.json', 'config.json'];
  const model = await resolve('bundled', { select, offline: true });
  expect(model).toMatchObject({ name: 'bundled', path: bundledFolder() });
  const checks = await verifyModel(model.path);
  expect(checks.filter(({ state }) => state === 'intact').map(({ path }) => path)).toEqual(
    expect.arrayContaining(select()),
  );
  expect(hub.requests).toEqual([]);
});
