import { describe, expect, test } from 'vitest';
import type { FailedFilter, FailedRecord, FailedStore } from '../../src/contracts/failed-store.js';
import { versionOf } from '../../src/elements/version.js';

export interface FailedStoreSuite {
  /** A place that is empty. Each call of the result opens a store on it anew, for a pipeline. */
  place(): Promise<(pipeline: string) => Promise<FailedStore>>;
}

/** A record as a failing chunker might leave it. @param version its position */
export function failedRecord(
  documentId: string,
  version = 1,
  parts: Partial<FailedRecord> = {},
): FailedRecord {
  return {
    pipeline: 'handbook',
    source: 'files',
    documentId,
    version: versionOf(0, BigInt(version)),
    element: {
      kind: 'document',
      text: `Text of ${documentId}\n"ü" 水 \u2028`,
      metadata: { path: documentId, n: [1, null] },
    },
    stage: 'chunk',
    error: {
      code: 'transform_failed',
      message: 'It broke.',
      hint: 'Mend it.',
      causes: ['a cause', 'its cause'],
    },
    attempts: 1,
    firstAt: '2026-03-01T10:00:00.000Z',
    lastAt: '2026-03-01T10:00:00.000Z',
    ...parts,
  };
}

export async function recordsOf(store: FailedStore, filter?: FailedFilter): Promise<FailedRecord[]> {
  const records: FailedRecord[] = [];
  for await (const record of store.list(filter)) records.push(record);
  return records.sort((a, b) => (a.documentId < b.documentId ? -1 : 1));
}

/** What every failed-element store promises. */
export function failedStoreSuite(name: string, { place }: FailedStoreSuite): void {
  const opened = async (): Promise<{
    store: FailedStore;
    again(pipeline?: string): Promise<FailedStore>;
  }> => {
    const open = await place();
    return { store: await open('handbook'), again: (pipeline = 'handbook') => open(pipeline) };
  };

  describe(`${name} as a failed-element store`, () => {
    test('is empty at first', async () => {
      const { store } = await opened();
      expect(await recordsOf(store)).toEqual([]);
      expect(await store.get('a')).toBeUndefined();
      expect(await store.discard([{ documentId: 'a', version: versionOf(0, 9n) }])).toBe(0);
      await store.close();
    });

    test('keeps a record whole, also for those who open it later', async () => {
      const { store, again } = await opened();
      const records = [
        failedRecord('a', 1, { model: 'digest' }),
        failedRecord('b', 2, { element: { kind: 'unreadable' }, stage: 'source' }),
        failedRecord('c', 3, {
          element: { kind: 'deletion' },
          error: { code: 'internal', message: '', causes: [] },
        }),
      ];
      await store.put(records);
      expect(await recordsOf(store)).toEqual(records);
      await store.close();
      const later = await again();
      expect(await recordsOf(later)).toEqual(records);
      expect(await later.get('b')).toEqual(records[1]);
      await later.close();
    });

    test('keeps one record a document: the same version adds its attempts and keeps its first time', async () => {
      const { store, again } = await opened();
      await store.put([failedRecord('a', 1, { attempts: 2 })]);
      const last = { lastAt: '2026-03-02T10:00:00.000Z', firstAt: '2026-03-02T10:00:00.000Z' };
      await store.put([failedRecord('a', 1, { attempts: 3, ...last })]);
      const expected = [failedRecord('a', 1, { attempts: 5, lastAt: last.lastAt })];
      expect(await recordsOf(store)).toEqual(expected);
      await store.close();
      const later = await again();
      expect(await recordsOf(later)).toEqual(expected);
      await later.close();
    });

    test('lets a newer version replace an older one, and never the other way', async () => {
      const { store } = await opened();
      await store.put([failedRecord('a', 1, { attempts: 4 }), failedRecord('b', 5)]);
      await store.put([failedRecord('a', 2, { stage: 'embed' }), failedRecord('b', 4, { stage: 'embed' })]);
      expect(await recordsOf(store)).toEqual([
        failedRecord('a', 2, { stage: 'embed' }),
        failedRecord('b', 5),
      ]);
      await store.close();
    });

    test('takes several records of one document in one put, in their order', async () => {
      const { store } = await opened();
      await store.put([
        failedRecord('a', 1),
        failedRecord('a', 1),
        failedRecord('a', 2),
        failedRecord('a', 2),
      ]);
      expect(await recordsOf(store)).toEqual([failedRecord('a', 2, { attempts: 2 })]);
      await store.close();
    });

    test('forgets what is discarded, up to the version that was seen', async () => {
      const { store, again } = await opened();
      await store.put([failedRecord('a', 1), failedRecord('b', 7), failedRecord('c', 1)]);
      const keys = ['a', 'b', 'x'].map((documentId) => ({ documentId, version: versionOf(0, 3n) }));
      expect(await store.discard(keys)).toBe(1);
      expect((await recordsOf(store)).map(({ documentId }) => documentId)).toEqual(['b', 'c']);
      expect(await store.discard(keys)).toBe(0);
      await store.close();
      const later = await again();
      expect((await recordsOf(later)).map(({ documentId }) => documentId)).toEqual(['b', 'c']);
      await later.close();
    });

    test('counts from anew when a discarded document fails again', async () => {
      const { store } = await opened();
      await store.put([failedRecord('a', 1, { attempts: 5 })]);
      await store.discard([failedRecord('a', 1)]);
      const again = failedRecord('a', 1, { firstAt: '2026-04-01T00:00:00.000Z' });
      await store.put([again]);
      expect(await store.get('a')).toEqual(again);
      await store.close();
    });

    test('forgets what last failed before a time, and nothing else', async () => {
      const { store, again } = await opened();
      const other = await again('notes');
      const last = (lastAt: string) => ({ firstAt: '2026-01-01T00:00:00.000Z', lastAt });
      await store.put([
        failedRecord('old', 1, last('2026-02-01T00:00:00.000Z')),
        failedRecord('edge', 1, last('2026-02-02T00:00:00.000Z')),
        failedRecord('again', 1, last('2026-01-15T00:00:00.000Z')),
      ]);
      await store.put([failedRecord('again', 1, last('2026-02-03T00:00:00.000Z'))]);
      const elsewhere = failedRecord('old', 1, { pipeline: 'notes', ...last('2026-01-01T00:00:00.000Z') });
      await other.put([elsewhere]);
      expect(await store.expire('2026-02-02T00:00:00.000Z')).toBe(1);
      expect(await store.expire('2026-02-02T00:00:00.000Z')).toBe(0);
      expect((await recordsOf(store)).map(({ documentId }) => documentId)).toEqual(['again', 'edge']);
      expect(await recordsOf(other)).toEqual([elsewhere]);
      await store.close();
      await other.close();
      const later = await again();
      expect((await recordsOf(later)).length).toBe(2);
      await later.close();
    });

    test('keeps ids and texts of any characters and length', async () => {
      const { store } = await opened();
      const ids = ['a b\n c', '"quoted" \\', 'record', 'id', '水/ü', '*?[', 'x'.repeat(5_000)];
      const records = ids.map((id) =>
        failedRecord(id, 1, {
          element: {
            kind: 'document',
            text: `${'y'.repeat(200_000)}\u2028\\"'`,
            metadata: { id, deep: [{}] },
          },
          error: { code: 'store_refused', message: 'a\u0000b', causes: ['\ud800'] },
        }),
      );
      await store.put(records);
      const byId = (a: FailedRecord, b: FailedRecord) => (a.documentId < b.documentId ? -1 : 1);
      expect(await recordsOf(store)).toEqual(records.sort(byId));
      for (const record of records) expect(await store.get(record.documentId)).toEqual(record);
      expect(await store.discard(records)).toBe(ids.length);
      await store.close();
    });

    test('finds by code, by stage and by the beginning of the id', async () => {
      const { store } = await opened();
      const unreadable = { code: 'item_unreadable', message: '', causes: [] } as const;
      await store.put([
        failedRecord('guide/a'),
        failedRecord('guide/b', 1, { error: unreadable, stage: 'source' }),
        failedRecord('notes/c', 1, { stage: 'source' }),
      ]);
      const ids = async (filter: FailedFilter): Promise<string[]> =>
        (await recordsOf(store, filter)).map(({ documentId }) => documentId);
      expect(await ids({ code: 'item_unreadable' })).toEqual(['guide/b']);
      expect(await ids({ stage: 'source' })).toEqual(['guide/b', 'notes/c']);
      expect(await ids({ idPrefix: 'guide/' })).toEqual(['guide/a', 'guide/b']);
      expect(await ids({ idPrefix: 'guide/', stage: 'chunk' })).toEqual(['guide/a']);
      await store.close();
    });

    test('keeps the records of two pipelines apart', async () => {
      const { store, again } = await opened();
      const other = await again('notes');
      await store.put([failedRecord('a')]);
      await other.put([failedRecord('a', 2, { pipeline: 'notes' })]);
      expect(await recordsOf(store)).toEqual([failedRecord('a')]);
      expect(await other.discard([{ documentId: 'a', version: versionOf(0, 9n) }])).toBe(1);
      expect(await recordsOf(store)).toEqual([failedRecord('a')]);
      expect(await recordsOf(other)).toEqual([]);
      await store.close();
      await other.close();
    });

    test('shows at once what another has put or discarded', async () => {
      const { store, again } = await opened();
      const other = await again();
      await store.put([failedRecord('a'), failedRecord('b')]);
      expect((await recordsOf(other)).length).toBe(2);
      expect(await other.discard([failedRecord('a')])).toBe(1);
      await other.put([failedRecord('b')]);
      expect(await recordsOf(store)).toEqual([failedRecord('b', 1, { attempts: 2 })]);
      await store.close();
      await other.close();
    });

    test('takes many puts at once, of two writers, and loses none', async () => {
      const { store, again } = await opened();
      const other = await again();
      const puts = Array.from({ length: 100 }, (_, at) =>
        (at % 2 === 0 ? store : other).put([failedRecord(`d${at}`), failedRecord('shared')]),
      );
      await Promise.all(puts);
      const records = await recordsOf(store);
      expect(records.length).toBe(101);
      expect(records.find(({ documentId }) => documentId === 'shared')?.attempts).toBe(100);
      await store.close();
      await other.close();
    });

    test('may be changed while it is listed', async () => {
      const { store } = await opened();
      await store.put(Array.from({ length: 50 }, (_, at) => failedRecord(`d${at}`)));
      let listed = 0;
      for await (const record of store.list()) {
        listed += 1;
        await store.discard([record]);
      }
      expect(listed).toBe(50);
      expect(await recordsOf(store)).toEqual([]);
      await store.close();
    });
  });
}
