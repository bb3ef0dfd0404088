import { afterEach, expect, test } from 'vitest';
import type { z } from 'zod';
import { httpLookupConfig } from '../../../connectors/http/config.js';
import { openHttpLookup } from '../../../connectors/http/lookup.js';
import type { Lookup } from '../../../src/contracts/lookup.js';
import {
  startLookupEndpoint,
  type EndpointAnswer,
  type EndpointRequest,
} from '../../support/lookup-endpoint.js';
import { testContext } from '../../support/test-context.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Input = Partial<z.input<typeof httpLookupConfig>>;
const json = (value: unknown, status = 200): EndpointAnswer => ({ kind: 'json', value, status });
const signal = () => new AbortController().signal;

async function open(answer: (request: EndpointRequest) => EndpointAnswer, path: string, input: Input = {}) {
  const endpoint = await startLookupEndpoint(answer);
  const config = httpLookupConfig.parse({ url: endpoint.origin + path, allowPrivate: true, ...input });
  const lookup: Lookup = await openHttpLookup(config, { ...testContext(), concurrency: 4 });
  closing.push(
    () => lookup.close(),
    () => endpoint.close(),
  );
  return { endpoint, lookup };
}

test('one key a call: it is encoded, and what is not there is no row', async () => {
  const { endpoint, lookup } = await open(
    ({ path }) =>
      path.includes('gone') ? json({}, 404) : path.includes('null') ? json(null) : json({ path }),
    '/authors/{key}?fields=name&of={key}',
    { headers: { authorization: 'Bearer t' } },
  );
  expect(lookup.maxKeys).toBe(1);
  const found = [];
  for (const key of ['a', 'ü/?&#%', 'gone', 'null']) found.push(...(await lookup.find([key], signal())));
  expect(found).toEqual([
    { path: '/authors/a?fields=name&of=a' },
    { path: '/authors/%C3%BC%2F%3F%26%23%25?fields=name&of=%C3%BC%2F%3F%26%23%25' },
    undefined,
    undefined,
  ]);
  expect(endpoint.requests[0]!.headers.authorization).toBe('Bearer t');
  for (const key of ['..', '.'])
    await expect(lookup.find([key], signal())).rejects.toMatchObject({ code: 'transform_failed' });
  expect(endpoint.requests.length).toBe(4);
});

test('many keys a call: a list is paired by its key field, an object by its names', async () => {
  const authors = [
    { meta: { id: 2 }, name: 'Bo' },
    { meta: { id: 1 }, name: 'Al' },
  ];
  const { endpoint, lookup } = await open(() => json({ data: { items: authors } }), '/authors?ids={keys}', {
    rows: 'data.items',
    keyField: 'meta.id',
    maxKeys: 3,
  });
  expect(lookup.maxKeys).toBe(3);
  expect(await lookup.find(['1', '2', '3,4'], signal())).toEqual([authors[1], authors[0], undefined]);
  expect(endpoint.requests[0]!.path).toBe('/authors?ids=1,2,3%2C4');
  const posted = await open(() => json({ a: { n: 1 }, b: null }), '/by', {
    method: 'POST',
    body: '{"ids":{keys}}',
  });
  expect(await posted.lookup.find(['a', 'b', '"c"'], signal())).toEqual([{ n: 1 }, undefined, undefined]);
  expect(posted.endpoint.requests[0]!.body).toEqual({ ids: ['a', 'b', '"c"'] });
});

test('a number that JavaScript cannot hold stays its text, as a key too', async () => {
  const text = '[{"id": 9007199254740993, "price": 0.30000000000000004, "total": 12345678901234567890.5}]';
  const { lookup } = await open(() => ({ kind: 'text', text }), '/x?ids={keys}');
  expect(await lookup.find(['9007199254740993', '9007199254740992'], signal())).toEqual([
    { id: '9007199254740993', price: 0.30000000000000004, total: '12345678901234567890.5' },
    undefined,
  ]);
});

test.each([
  ['a row twice', [{ id: 'a' }, { id: 'a' }]],
  ['a row that nobody asked for', [{ id: 'z' }]],
  ['a row without a key', [{ name: 'a' }]],
  ['no list', 'text'],
])('an answer that has %s pairs with no key', async (_, value) => {
  const { lookup } = await open(() => json(value), '/x?ids={keys}');
  await expect(lookup.find(['a', 'b'], signal())).rejects.toMatchObject({ code: 'transform_failed' });
});

test.each([
  [401, 'remote_refused'],
  [403, 'remote_failed'],
  [408, 'remote_failed'],
  [422, 'transform_failed'],
  [500, 'remote_failed'],
  [503, 'remote_failed'],
])('status %i is %s', async (status, code) => {
  const { lookup } = await open(() => json({ secret: 's' }, status), '/x/{key}?token=t0ken');
  const error: unknown = await lookup.find(['a'], signal()).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code });
  expect((error as Error).message).not.toContain('t0ken');
});

test('too many calls are told with the time that the service asks for', async () => {
  const { lookup } = await open(
    () => ({ kind: 'json', value: {}, status: 429, retryAfter: '7' }),
    '/x/{key}',
  );
  await expect(lookup.find(['a'], signal())).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfterMs: 7_000,
  });
});

test('what is no JSON, or breaks off, may pass the next time', async () => {
  const answers: EndpointAnswer[] = [{ kind: 'text', text: '<html>' }, { kind: 'cut' }, json({ ok: 1 })];
  const { lookup } = await open(() => answers.shift()!, '/x/{key}');
  await expect(lookup.find(['a'], signal())).rejects.toMatchObject({ code: 'remote_failed' });
  await expect(lookup.find(['a'], signal())).rejects.toMatchObject({ code: 'remote_unavailable' });
  expect(await lookup.find(['a'], signal())).toEqual([{ ok: 1 }]);
});

test('an answer without end is cut off at its bound', async () => {
  const { endpoint, lookup } = await open(() => ({ kind: 'endless' }), '/x/{key}', { maxBytes: 100_000 });
  await expect(lookup.find(['a'], signal())).rejects.toMatchObject({
    code: 'transform_failed',
    message: expect.stringContaining('100000 bytes') as string,
  });
  await expect.poll(() => endpoint.aborted).toBe(1);
  expect(endpoint.sent).toBeLessThan(20e6);
});

test('a call that is aborted is cut off at the service', async () => {
  const { endpoint, lookup } = await open(() => ({ kind: 'hang' }), '/x/{key}');
  const stop = new AbortController();
  const asked = lookup.find(['a'], stop.signal);
  await expect.poll(() => endpoint.requests.length).toBe(1);
  stop.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
  await expect.poll(() => endpoint.aborted).toBe(1);
});

test('addresses that are not public are refused: written, resolved, and redirected to', async () => {
  const { endpoint, lookup } = await open(() => json({ inside: true }), '/x/{key}', { allowPrivate: false });
  await expect(lookup.find(['a'], signal())).rejects.toMatchObject({ code: 'config_invalid' });
  const named = endpoint.origin.replace('127.0.0.1', 'localhost');
  const byName = await open(() => json({}), '/x', { url: `${named}/{key}`, allowPrivate: false });
  await expect(byName.lookup.find(['a'], signal())).rejects.toMatchObject({ code: 'config_invalid' });
  const port = new URL(endpoint.origin).port;
  // The endpoint itself may be called; whom it redirects to may not.
  for (const location of [
    `http://127.0.0.2:${port}/x`,
    `http://[::ffff:127.0.0.2]:${port}/x`,
    'http://169.254.169.254/latest',
  ]) {
    const outer = await open(() => ({ kind: 'redirect', location }), '/x/{key}', {
      allowPrivate: ['127.0.0.1'],
    });
    await expect(outer.lookup.find(['a'], signal())).rejects.toMatchObject({
      code: 'transform_failed',
      message: expect.stringContaining('no public address') as string,
    });
  }
  expect(endpoint.requests).toEqual([]);
});

test('redirections are followed, to a bound, and secrets stay at their origin', async () => {
  const other = await startLookupEndpoint(() => json({ there: true }));
  closing.push(() => other.close());
  const { endpoint, lookup } = await open(
    ({ path }) =>
      path === '/loop'
        ? { kind: 'redirect', location: '/loop' }
        : path === '/bad'
          ? { kind: 'redirect', location: 'file:///etc/passwd' }
          : path === '/a'
            ? { kind: 'redirect', location: '/b', status: 308 }
            : { kind: 'redirect', location: `${other.origin}/c` },
    '/{key}',
    { headers: { 'x-token': 'secret' } },
  );
  expect(await lookup.find(['a'], signal())).toEqual([{ there: true }]);
  expect(endpoint.requests.map(({ headers }) => headers['x-token'])).toEqual(['secret', 'secret']);
  expect(other.requests.map(({ headers }) => headers['x-token'])).toEqual([undefined]);
  await expect(lookup.find(['loop'], signal())).rejects.toMatchObject({ code: 'transform_failed' });
  await expect(lookup.find(['bad'], signal())).rejects.toMatchObject({ code: 'transform_failed' });
  expect(endpoint.requests.length).toBe(2 + 6 + 1);
});

test('the probe asks for what was answered before, and tells an outage from a key', async () => {
  let down = false;
  const { endpoint, lookup } = await open(
    ({ path }) =>
      down || path === '/x/poison' ? json({}, 500) : path === '/x/good' ? json({ n: 1 }) : json({}, 404),
    '/x/{key}',
  );
  await lookup.probe(signal());
  await lookup.find(['good'], signal());
  await expect(lookup.find(['poison'], signal())).rejects.toMatchObject({ code: 'remote_failed' });
  await lookup.probe(signal());
  expect(endpoint.requests.map(({ path }) => path)).toEqual([
    '/x/millrace-probe',
    '/x/good',
    '/x/poison',
    '/x/good',
  ]);
  down = true;
  await expect(lookup.probe(signal())).rejects.toMatchObject({ code: 'remote_unavailable' });
});

test.each([
  'http://{key}/x',
  'http://u:p@h/{key}',
  'ftp://h/{key}',
  'http://h{key}',
  '/x/{key}',
  'http://h/#{key}',
  'http://h/x',
])('the address %s is refused', (url) => {
  expect(httpLookupConfig.safeParse({ url }).success).toBe(false);
});
