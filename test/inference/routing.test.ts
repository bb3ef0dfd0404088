import { expect, test } from 'vitest';
import { createDocument } from '../../src/elements/document.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { versionOf } from '../../src/elements/version.js';
import { createRouter, routesOf, routeOfKey, type RouteRule } from '../../src/inference/routing.js';

function documentWith(metadata: Metadata) {
  return createDocument({ id: 'a', text: 'ants', metadata, version: versionOf(0, 1n) });
}

const rule: RouteRule = {
  route: 'metadata.page.lang',
  keys: { at: ['de'], both: ['de', 'en'], ten: ['en'] },
  models: ['en', 'de'],
};

test('a key is a model’s name, or leads to one or several', () => {
  const route = createRouter({ ...rule, keys: { ...rule.keys, 10: ['en'], true: ['de'] } });
  const of = (lang: Metadata[string]) => route(documentWith({ page: { lang } }));
  expect(of('en')).toEqual(['en']);
  expect(of('at')).toEqual(['de']);
  expect(of('both')).toEqual(['de', 'en']);
  expect(of(10)).toEqual(['en']);
  expect(of(true)).toEqual(['de']);
  expect(of('en')).toBe(of('en'));
});

test('what leads nowhere is refused with the key, names of object members included', () => {
  const route = createRouter(rule);
  for (const lang of ['fr', 'constructor', '__proto__'])
    expect(() => route(documentWith({ page: { lang } }))).toThrowError(
      expect.objectContaining({ code: 'route_unknown', message: expect.stringContaining(lang) as string }),
    );
  for (const metadata of [
    {},
    { page: 'en' },
    { page: { lang: null } },
    { page: { lang: ['en'] } },
  ] as Metadata[])
    expect(() => route(documentWith(metadata))).toThrowError(
      expect.objectContaining({ message: expect.stringContaining('no metadata.page.lang') as string }),
    );
  const fallback = createRouter({ ...rule, models: [...rule.models, '*'] });
  expect(fallback(documentWith({}))).toEqual(['*']);
  expect(routeOfKey({ ...rule, models: ['en', '*'] }, 'fr')).toEqual(['*']);
});

test('a route function that throws, or gives no text, fails the document', () => {
  const throwing = createRouter({
    ...rule,
    route: () => {
      throw new Error('broken');
    },
  });
  expect(() => throwing(documentWith({}))).toThrowError(expect.objectContaining({ code: 'route_unknown' }));
  const silent = createRouter({ ...rule, route: (() => undefined) as never });
  expect(() => silent(documentWith({}))).toThrowError(/gave undefined, not a text/);
});

test('a route function that gives a promise fails the document, and a rejection of it ends nothing', async () => {
  const async = createRouter({ ...rule, route: (() => Promise.reject(new Error('late'))) as never });
  expect(() => async(documentWith({}))).toThrowError(/gave a promise, not a text/);
  // An unhandled rejection would come with the next turn, and fail the test run.
  await new Promise((resolve) => setImmediate(resolve));
});

test('a key that is a list is told apart from one that is not there', () => {
  expect(() => createRouter(rule)(documentWith({ page: { lang: ['en'] } }))).toThrowError(
    /no metadata.page.lang that is one value/,
  );
});

test('every list of models is named once, and only those that can be reached', () => {
  expect(routesOf({ ...rule, keys: { ...rule.keys, ch: ['en', 'de'] } })).toEqual([
    ['de'],
    ['en', 'de'],
    ['en'],
  ]);
  expect(routesOf({ route: undefined, keys: { '*': ['a', 'b'] }, models: ['a', 'b'] })).toEqual([['a', 'b']]);
  expect(routesOf({ route: undefined, keys: {}, models: ['*'] })).toEqual([['*']]);
});
