import { describe, expect, it } from 'vitest';
import type { TermQuery } from '../../../src/contracts/chunk-search.js';
import type { StoreWrite } from '../../../src/contracts/sink.js';
import type { Store } from '../../../src/contracts/store.js';
import { readFilter } from '../../../src/elements/filter/read-filter.js';
import { countTerms } from '../../../src/transforms/terms/count-terms.js';
import { seededRandom } from '../../support/seeded-random.js';
import { patience } from '../../suites/store-harness.js';
import { deleting, kinds, layout, storing } from '../../suites/store-samples.js';
import { storeBed } from './store-bed.js';

describe('the index of words', { timeout: patience }, () => {
  const bed = storeBed();
  const { onAdmin } = bed;
  type Index = 'off' | number;
  const onServer = (pipeline: string, index: Index) => bed.onServer(pipeline, { index });
  const inFolder = (pipeline: string, index: Index) => bed.inFolder(pipeline, { index });
  const scans = async () =>
    Number(
      (
        await onAdmin(
          "select coalesce(sum(idx_scan), 0)::int as n from pg_stat_user_indexes where indexrelname like 'chunks_words%'",
        )
      )[0]!['n'],
    );

  const random = seededRandom(11);
  /** As often as in a language: the n-th word n times as rare as the first. */
  const word = () => `w${Math.floor(500 ** random()) - 1}`;
  const textOf = (length: number) => Array.from({ length }, word).join(' ');

  function withTerms(id: string, position: number, texts: readonly string[], even: boolean): StoreWrite {
    const write = storing(id, position, texts, { metadata: { even } });
    return {
      ...write,
      chunks: write.chunks.map((chunk) => ({ ...chunk, terms: countTerms(chunk.embeddedText) })),
    };
  }
  const documents = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      withTerms(
        `d-${at}`,
        1,
        Array.from({ length: 1 + (at % 4) }, () => textOf(1 + Math.floor(random() * 60))),
        at % 2 === 0,
      ),
    );

  async function fill(store: Store, writes: Parameters<Store['sink']['write']>[0]): Promise<void> {
    for (let at = 0; at < writes.length; at += 50)
      expect(new Set(kinds(await store.sink.write(writes.slice(at, at + 50))))).toEqual(new Set(['done']));
  }

  async function agree(indexed: Store, exact: Store, question: string, options: Partial<TermQuery> = {}) {
    const query = { terms: countTerms(question), k: 10, k1: 1.2, b: 0.75, ...options };
    const [found, wanted] = await Promise.all([
      indexed.search.searchTerms!(query),
      exact.search.searchTerms!(query),
    ]);
    // To the bit: equal scores are told apart by their ids.
    expect(found).toEqual(wanted);
    return wanted.length;
  }

  async function agreeOften(indexed: Store, exact: Store, times: number): Promise<void> {
    let hits = 0;
    for (let time = 0; time < times; time += 1) {
      const options = {
        k: [1, 3, 10, 1000][time % 4]!,
        ...(time % 3 === 0 && { filter: readFilter({ even: true }) }),
        ...(time % 5 === 0 && { k1: 0, b: 1 }),
      };
      hits += await agree(indexed, exact, textOf(1 + (time % 12)), options);
    }
    expect(hits).toBeGreaterThan(times);
    expect(await agree(indexed, exact, 'w0')).toBe(10);
    expect(await agree(indexed, exact, 'nowhere')).toBe(0);
    expect(await agree(indexed, exact, 'nowhere w400 w0 w0', { k: 1000 })).toBeGreaterThan(0);
    const long = Array.from({ length: 100 }, (_, at) => `w${at}`).join(' ');
    expect(await agree(indexed, exact, long)).toBe(10);
  }

  for (const [name, open] of [
    ['a server', onServer],
    ['PGlite', inFolder],
  ] as const)
    it(`gives on ${name} what reading all chunks gives, also after changes`, async () => {
      const indexed = await open('words', 300);
      const exact = await open('exact', 'off');
      for (const store of [indexed, exact]) await store.prepare({ ...layout, terms: true });
      const writes = documents(160);
      for (const store of [indexed, exact]) await fill(store, writes);
      await indexed.tune();
      const before = name === 'a server' ? await scans() : 0;
      await agreeOften(indexed, exact, name === 'a server' ? 30 : 10);
      // A server tells its statistics some seconds later.
      if (name === 'a server') await expect.poll(scans, { timeout: 30_000 }).toBeGreaterThan(before);

      const changes = [
        ...Array.from({ length: 40 }, (_, at) => withTerms(`d-${at}`, 2, [textOf(30), textOf(5)], false)),
        ...Array.from({ length: 20 }, (_, at) => deleting(`d-${100 + at}`, 2)),
        ...Array.from({ length: 20 }, (_, at) => withTerms(`new-${at}`, 1, [textOf(40)], true)),
      ];
      for (const store of [indexed, exact]) await fill(store, changes);
      await agreeOften(indexed, exact, 10);
    });

  it('waits for the count of words of documents that an earlier layout wrote', async () => {
    const [indexed, exact] = [await onServer('earlier', 100), await onServer('reading', 'off')];
    const writes = documents(60);
    for (const store of [indexed, exact]) {
      await store.prepare({ ...layout, terms: true });
      await fill(store, writes);
    }
    await indexed.tune();
    await onAdmin("update millrace.ledger set words = null where pipeline = 'earlier'");
    await agreeOften(indexed, exact, 10);
    await indexed.tune();
    const [left] = await onAdmin(
      `select count(*)::int as n from millrace.ledger e join millrace.ledger r using (document_id)
       where e.pipeline = 'earlier' and r.pipeline = 'reading' and e.words is distinct from r.words`,
    );
    expect(left).toEqual({ n: 0 });
    await agreeOften(indexed, exact, 10);
  });

  it('goes with its generation', async () => {
    const store = await onServer('gone', 50);
    await store.prepare({ ...layout, terms: true });
    await fill(store, documents(40));
    await store.tune();
    const indexes = async () =>
      (
        await onAdmin(
          "select indexdef from pg_indexes where indexname like 'chunks_words%' and indexdef like '%''gone%'",
        )
      ).length;
    expect(await indexes()).toBe(1);
    const number = await store.generations!.start({ ...layout, terms: true }, {});
    const view = store.generations!.view(number);
    await fill({ ...store, sink: view.sink }, documents(40));
    await view.tune();
    expect(await indexes()).toBe(2);
    await store.generations!.drop(number);
    expect(await indexes()).toBe(1);
  });

  it('leaves chunks on a server that are counted without a look at each', async () => {
    const store = await onServer('counted', 100);
    await store.prepare({ ...layout, terms: true });
    await fill(store, documents(200));
    const unseen = async () =>
      (
        await onAdmin(
          "select relpages - relallvisible as pages from pg_class where oid = 'millrace.chunks'::regclass",
        )
      )[0]!['pages'];
    await onAdmin('analyze millrace.chunks');
    expect(await unseen()).toBeGreaterThan(0);
    await store.tune();
    expect(await unseen()).toBe(0);
  });
});
