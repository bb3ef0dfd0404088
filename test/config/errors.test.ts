import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import { loadConfig } from '../../src/config/load.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const start = 'name: a\nsource: { files: { root: docs } }\n';
const embed = '{ embed: { static: { model: bundled } } }';

/** What is said of a configuration with this text. */
async function refusal(text: string, file = 'millrace.yaml'): Promise<MillraceError> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, file), text);
  return refusalOf(join(folder, file));
}

async function refusalOf(path: string): Promise<MillraceError> {
  const error: unknown = await loadConfig(path, { env: {}, connectors, cacheFolder: '/models' }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(MillraceError);
  expect(error).toMatchObject({ code: 'config_invalid' });
  return error as MillraceError;
}

describe('a configuration that is wrong is refused with the path to the key, what was expected and what to write', () => {
  test.each([
    ['an unknown key', `${start}chian: []\n`, ['chian: unknown key. Did you mean "chain"?']],
    [
      'unknown keys far inside, all at once',
      `name: a\nsource: { files: { root: docs, exlude: [] } }\nchain: [{ chunk: { markdown: { maxTokns: 3 } } }, ${embed}]\n`,
      [
        'source.files.exlude: unknown key. Did you mean "exclude"?',
        'chain[0].chunk.markdown.maxTokns: unknown key. Did you mean "maxTokens"?',
      ],
    ],
    [
      'an unknown key like none',
      `${start}limits: { speed: 3 }\n`,
      ['limits.speed: unknown key. Known here: elements, bytes'],
    ],
    [
      'a wrong type',
      'name: a\nsource: { files: { root: 5 } }\n',
      ['source.files.root: invalid input: expected string, received number', 'Folder to read.'],
    ],
    [
      'a wrong type in one of several connectors',
      `${start}sink: { pglite: { path: 5 } }\n`,
      ['sink.pglite.path: invalid input: expected string, received number'],
    ],
    [
      'a missing root',
      'name: a\nsource: { files: {} }\n',
      ['source.files.root: missing; expected string', 'Folder to read.'],
    ],
    [
      'a missing source',
      'name: a\n',
      ['source: expected exactly one of "files", "postgres", "redis", with its settings under it'],
    ],
    [
      'two connectors',
      `${start}sink: { pglite: {}, postgres: { url: x } }\n`,
      ['sink: expected exactly one of "pglite", "postgres", "qdrant", with its settings under it'],
    ],
    [
      'a connector that cannot play the part',
      'name: a\nsource: { pglite: {} }\n',
      ['source: expected exactly one of "files", "postgres", "redis", with its settings under it'],
    ],
    [
      'a step that is misspelt',
      `${start}chain: [{ chunks: { markdown: {} } }, ${embed}]\n`,
      [
        'chain[0]: expected exactly one of "enrich", "infer", "chunk", "sparse", "embed"',
        'Did you mean "chunk"?',
      ],
    ],
    [
      'steps out of order',
      `${start}chain: [${embed}, { chunk: { markdown: {} } }]\n`,
      [
        'chain: expected any number of enrich and infer steps, one chunk, any number of infer steps, perhaps one sparse, one embed; got embed, chunk',
      ],
    ],
    [
      'settings that do not go together',
      `${start}chain: [{ chunk: { markdown: { maxTokens: 100, overlap: 200 } } }, ${embed}]\n`,
      ['chain[0].chunk.markdown.overlap: overlap must be smaller than maxTokens (100), not 200'],
    ],
    [
      'a result that cannot go where it is put',
      `${start}chain: [{ infer: { name: a, to: context, model: { onnx: { model: m } } } }, { chunk: { markdown: {} } }, { infer: { name: b, to: text, model: { onnx: { model: m } } } }, ${embed}]\n`,
      [
        'chain[0].infer.to: context is for chunks; move the step after chunk, or write text',
        'chain[2].infer.to: after chunk the text is fixed; write context, or a place in the metadata',
      ],
    ],
    [
      'routes that lead nowhere',
      `${start}chain: [{ infer: { name: a, to: metadata.x, keys: { de: eng }, models: { en: { onnx: { model: m } } } } }, { chunk: { markdown: {} } }, ${embed}]\n`,
      [
        'chain[0].infer.keys.de: names no model of `models`: "eng"',
        'chain[0].infer.route: is missing: without it every document has the key "*", which leads nowhere',
      ],
    ],
    [
      'one model and several',
      `${start}chain: [{ infer: { name: a, to: metadata.x, model: { onnx: { model: m } }, models: { "*": { onnx: { model: m } } } } }, { chunk: { markdown: {} } }, ${embed}]\n`,
      ['chain[0].infer.models: name one model, or several under `models`, not both'],
    ],
    [
      'an enrichment by nothing, and by two',
      `${start}chain: [{ enrich: { name: a } }, { enrich: { redis: { url: "redis://h", key: a }, http: { url: "http://h/{key}", key: a } } }, { chunk: { markdown: {} } }, ${embed}]\n`,
      ['chain[0].enrich: name one of batch, http, postgres, redis', 'chain[1].enrich: name one of batch'],
    ],
    [
      'a look-up without its key, and with what it does not know',
      `${start}chain: [{ enrich: { redis: { url: "redis://h", patern: x }, joins: left } }, { chunk: { markdown: {} } }, ${embed}]\n`,
      [
        'chain[0].enrich.redis.key: missing',
        'chain[0].enrich.redis.patern: unknown key. Did you mean "pattern"?',
        'chain[0].enrich.joins: unknown key. Did you mean "join"?',
      ],
    ],
    [
      'look-ups that cannot do what they are told',
      `${start}chain: [{ enrich: { http: { url: "http://{key}/", key: a }, join: nested, template: "{", timeout: 5, cache: { ttl: long } } }, { chunk: { markdown: {} } }, ${embed}]\n`,
      [
        'chain[0].enrich.http.url: expected http(s)://host/path, with {key} or {keys} only behind the host',
        'chain[0].enrich.template: has a "{" without its partner',
        'chain[0].enrich.timeout: invalid input: expected string, received number',
        'chain[0].enrich.cache.ttl: expected a number with its unit',
      ],
    ],
    [
      'options that do not go together',
      `${start}chain: [{ enrich: { redis: { url: "redis://h", key: a }, join: nested, metadata: false } }, { enrich: { redis: { url: "redis://h", key: a }, into: b } }, { chunk: { markdown: {} } }, ${embed}]\n`,
      [
        'chain[0].enrich.into: is missing: the name that the row is put under',
        'chain[0].enrich.template: is missing: with `metadata: false` the fields would go nowhere',
        'chain[1].enrich.into: is for `join: nested`',
      ],
    ],
    [
      'a bad name',
      'name: "a b"\nsource: { files: { root: docs } }\n',
      ['name: expected letters, digits, - and _'],
    ],
    [
      'an address that is none',
      'name: a\nsource: { redis: { url: "redis://user:pa ss@a host:6379", stream: s } }\n',
      ['source.redis.url: expected redis://[user:password@]host:port[/db], or rediss:// for TLS'],
    ],
    [
      'a model whose name cannot be one',
      `${start}chain: [{ chunk: { markdown: {} } }, { embed: { models: { "a b": { static: {} }, "*": { static: {} } } } }]\n`,
      ['chain[1].embed.models.a b: expected letters, digits, ".", "-" and "_", or "*" for the default'],
    ],
    [
      'a key with nothing under it',
      `${start}chain: [{ chunk: { markdown: {} } }, { embed: { models: { "*": } } }]\n`,
      [
        'chain[1].embed.models.*: has nothing under it; expected settings. Known here: static, onnx, openai, own.',
      ],
    ],
    [
      'a text where settings belong',
      `${start}chain: [{ chunk: markdown }, { embed: { models: { "*": bundled } } }]\nlimits: [5]\n`,
      [
        'chain[1].embed.models.*: is a string; expected settings. Known here: static, onnx, openai, own.',
        'limits: is a list; expected settings. Known here: elements, bytes, maxItemBytes, maxChunks.',
      ],
    ],
    [
      'a connector with nothing under it',
      'name: a\nsource: { files: }\n',
      ['source.files: has nothing under it; expected settings. Known here: root, include,'],
    ],
    [
      'models to exchange that the chain has not',
      `${start}chain: [{ chunk: { markdown: {} } }, { embed: { static: { model: ./mine } } }]\nrefresh: { watch: [./mine, bundled], allow: [{ model: ./new, replaces: ./mnie }] }\n`,
      [
        'refresh.watch: "bundled" is no model of the chain that can be exchanged. Write it as in the chain: ./mine',
        'refresh.allow[0].replaces: "./mnie" is no model of the chain that can be exchanged',
      ],
    ],
    ['an empty file', '', ['the configuration: is empty; expected settings. Known here: name, source,']],
  ])('%s', async (_, text, said) => {
    const { message } = await refusal(text);
    for (const part of said) expect(message).toContain(part);
    expect(message).toContain('millrace.yaml cannot be used:');
  });

  test('an environment variable that is not set', async () => {
    const { message, hint } = await refusal('name: a\nsource: { files: { root: "${NOPE}" } }\n');
    expect(message).toBe('source.files.root: the environment variable NOPE is not set.');
    expect(hint).toContain('Set it, or write the value in place of ${NOPE}.');
  });

  test('what is no YAML', async () => {
    expect((await refusal('name: a\nsource: { files:\n')).message).toMatch(/is not valid YAML at line \d+\./);
  });

  test('a file that is not there, or of another kind', async () => {
    const missing = await refusalOf('/nowhere/millrace.yaml');
    expect(missing.message).toContain('/nowhere/millrace.yaml cannot be read (ENOENT)');
    expect(missing.hint).toContain('Give the path of a configuration file');
    expect((await refusal(start, 'millrace.txt')).message).toContain(
      'expected a .yaml, .yml, .json, .ts or .js file',
    );
  });

  test('a script that throws', async () => {
    const error = await refusal('throw new Error("no such luck");', 'millrace.mjs');
    expect(error.message).toContain('could not be run');
    expect(String((error.cause as Error).message)).toContain('no such luck');
  });
});

test('YAML and TypeScript give the same pipeline, with values from the environment', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'a.yaml'), 'name: a\nsource: { files: { root: "${DOCS}" } }\nworkers: 3\n');
  await writeFile(
    join(folder, 'a.ts'),
    `interface Source { files: { root: string } }
const source: Source = { files: { root: '\${DOCS}' } };
export default { name: 'a', source, workers: 3 };`,
  );
  const options = { env: { DOCS: 'handbook' }, connectors, cacheFolder: '/models' };
  const yaml = await loadConfig(join(folder, 'a.yaml'), options);
  expect(yaml.source.config).toMatchObject({ root: 'handbook' });
  expect(yaml.baseFolder).toBe(folder);
  expect(await loadConfig(join(folder, 'a.ts'), options)).toEqual(yaml);
});
