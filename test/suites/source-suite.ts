import { describe, expect, test } from 'vitest';
import type { Delivery, ElementsDelivery, Source, SourceContext } from '../../src/contracts/source.js';
import type { Outcome } from '../../src/elements/outcome.js';
import { LedgerDouble } from '../support/ledger-double.js';

export interface SourceBed {
  readonly source: Source;
  /** Context parts that the source needs in its place (a clock's `observe` is given). */
  readonly context?: Partial<SourceContext>;
  /** Resources that are still held: open files, connections. */
  held(): number | Promise<number>;
}

export interface SourceSuite {
  /** @param documents id -> text; what the source holds, over a thousand must not fit one delivery */
  fill(documents: ReadonlyMap<string, string>): Promise<SourceBed>;
}

/** More than any source hands over at once. */
const many = 1200;

const now = { now: () => Date.now() };

/** What every source promises, for one whose documents the bed can fill in. */
export function sourceSuite(name: string, { fill }: SourceSuite): void {
  describe(`${name} as a source`, { timeout: 30_000 }, () => {
    test('hands over every document once, as it is', async () => {
      const documents = someDocuments(many);
      const { source, context } = await fill(documents);
      const seen = new Map<string, string>();
      let elements = 0;
      for await (const delivery of source.deliveries(new LedgerDouble().context(now, context))) {
        if (delivery.kind !== 'elements') continue;
        expect(delivery.elements.length).toBeGreaterThan(0);
        for (const element of delivery.elements) {
          if (element.kind !== 'document') throw new Error(`${element.id} is ${element.kind}`);
          seen.set(element.id, element.text);
          elements += 1;
        }
        await settle(delivery);
      }
      expect(elements).toBe(documents.size);
      expect([...seen.values()].sort()).toEqual([...documents.values()].sort());
    });

    test('hands over the same ids and texts when it is read again', async () => {
      const documents = someDocuments(300);
      const { source, context } = await fill(documents);
      const first = await everything(source, new LedgerDouble().context(now, context));
      const second = await everything(
        (await fill(documents)).source,
        new LedgerDouble().context(now, context),
      );
      expect(first.length).toBe(300);
      expect(second).toEqual(first);
    });

    test('takes settlements in any order, and also after its end', async () => {
      const { source, context } = await fill(someDocuments(many));
      const deliveries: ElementsDelivery[] = [];
      for await (const delivery of source.deliveries(new LedgerDouble().context(now, context)))
        if (delivery.kind === 'elements') deliveries.push(delivery);
      expect(deliveries.length).toBeGreaterThan(1);
      for (const delivery of deliveries.reverse()) await settle(delivery);
    });

    test('never goes back in its progress, and stays within 0 and 1', async () => {
      const { source, context } = await fill(someDocuments(many));
      let last = 0;
      for await (const delivery of source.deliveries(new LedgerDouble().context(now, context))) {
        if (delivery.kind !== 'elements' || delivery.progress === undefined) continue;
        expect(delivery.progress).toBeGreaterThanOrEqual(last);
        expect(delivery.progress).toBeLessThanOrEqual(1);
        last = delivery.progress;
      }
    });

    test('reads on only when it is asked', async () => {
      const { source, context } = await fill(someDocuments(many));
      let observed = 0;
      const ledger = new LedgerDouble();
      const given = ledger.context(now, context);
      const counting: SourceContext = {
        ...given,
        observe: (ids) => {
          observed += ids.length;
          return given.observe(ids);
        },
      };
      const iterator = source.deliveries(counting)[Symbol.asyncIterator]();
      const first = await iterator.next();
      const before = observed;
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(observed).toBe(before);
      expect(elementsOf(first.value as Delivery)).toBeGreaterThan(0);
      expect(before).toBeLessThan(many);
      await iterator.return?.();
    });

    test('lets go of everything when its reader leaves early', async () => {
      const bed = await fill(someDocuments(many));
      const before = await bed.held();
      for await (const delivery of bed.source.deliveries(new LedgerDouble().context(now, bed.context)))
        if (elementsOf(delivery) > 0) break;
      expect(await bed.held()).toBe(before);
    });

    test('ends without a throw, and without a whole pass, when it is stopped', async () => {
      const bed = await fill(someDocuments(many));
      const before = await bed.held();
      const stop = new AbortController();
      let elements = 0;
      const kinds: string[] = [];
      const context = new LedgerDouble().context(now, { ...bed.context, signal: stop.signal });
      for await (const delivery of bed.source.deliveries(context)) {
        kinds.push(delivery.kind);
        elements += elementsOf(delivery);
        stop.abort(new Error('stopped by the test'));
      }
      expect(kinds).toEqual(['elements']);
      expect(elements).toBeLessThan(many);
      expect(await bed.held()).toBe(before);
    });

    test('hands nothing over when it was stopped before', async () => {
      const bed = await fill(someDocuments(10));
      const context = new LedgerDouble().context(now, { ...bed.context, signal: AbortSignal.abort() });
      for await (const delivery of bed.source.deliveries(context)) throw new Error(delivery.kind);
      expect(await bed.held()).toBe(0);
    });

    test('ends when it is stopped while it waits for changes', async () => {
      const bed = await fill(someDocuments(10));
      const stop = new AbortController();
      const context = new LedgerDouble().context(now, { ...bed.context, signal: stop.signal, watch: true });
      let elements = 0;
      for await (const delivery of bed.source.deliveries(context)) {
        elements += elementsOf(delivery);
        if (delivery.kind === 'elements') await settle(delivery);
        if (elements === 10) setTimeout(() => stop.abort(new Error('stopped by the test')), 50);
      }
      expect(elements).toBe(10);
      expect(await bed.held()).toBe(0);
    });
  });
}

function someDocuments(count: number): Map<string, string> {
  return new Map(
    Array.from({ length: count }, (_, at) => [`document ${at}`, `Text of document ${at}: ü 水 😀`]),
  );
}

function elementsOf(delivery: Delivery): number {
  return delivery.kind === 'elements' ? delivery.elements.length : 0;
}

async function settle(delivery: ElementsDelivery): Promise<void> {
  await delivery.settle(delivery.elements.map((): Outcome => ({ kind: 'stored', chunks: 1, embedded: 1 })));
}

async function everything(source: Source, context: SourceContext): Promise<[string, string][]> {
  const all: [string, string][] = [];
  for await (const delivery of source.deliveries(context)) {
    if (delivery.kind !== 'elements') continue;
    for (const element of delivery.elements)
      if (element.kind === 'document') all.push([element.id, element.text]);
    await settle(delivery);
  }
  return all.sort();
}
