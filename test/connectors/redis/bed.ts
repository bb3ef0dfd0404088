import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { redisSourceConfig } from '../../../connectors/redis/config.js';
import { openRedisSource } from '../../../connectors/redis/source.js';
import type { Notice } from '../../../src/contracts/context.js';
import type { Delivery, ElementsDelivery, Source } from '../../../src/contracts/source.js';
import { systemClock } from '../../../src/flow/system-clock.js';
import { LedgerDouble } from '../../support/ledger-double.js';
import type { RedisService } from '../../support/services/redis.js';

export type SourceInput = Partial<z.input<typeof redisSourceConfig>>;

export interface StreamBed {
  readonly source: Source;
  readonly notices: Notice[];
}

export async function openStream(
  redis: RedisService,
  stream: string,
  input: SourceInput = {},
): Promise<StreamBed> {
  const notices: Notice[] = [];
  const source = await openRedisSource(redisSourceConfig.parse({ url: redis.url, stream, ...input }), {
    pipeline: 'test',
    baseFolder: '/',
    clock: systemClock,
    notify: (notice) => notices.push(notice),
  });
  return { source, notices };
}

/** Reads and applies all there is. @returns the elements, in order */
export async function readAll({ source }: StreamBed, ledger: LedgerDouble) {
  const elements = [];
  for await (const delivery of source.deliveries(ledger.context({ now: () => Date.now() }))) {
    if (delivery.kind === 'elements') elements.push(...delivery.elements);
    await ledger.apply(delivery);
  }
  return elements;
}

/** A reading that goes on, one delivery at a time. */
export function follow({ source }: StreamBed, ledger: LedgerDouble) {
  const stop = new AbortController();
  const context = ledger.context({ now: () => Date.now() }, { watch: true, signal: stop.signal });
  const iterator = source.deliveries(context)[Symbol.asyncIterator]();
  return {
    /** The next delivery of elements. */
    async next(): Promise<ElementsDelivery> {
      for (;;) {
        const { value, done } = (await iterator.next()) as IteratorResult<Delivery>;
        if (done === true) throw new Error('The source ended.');
        if (value.kind === 'elements') return value;
      }
    },
    async end() {
      stop.abort(new Error('ended by the test'));
      await iterator.return?.();
    },
  };
}

export async function addDocuments(
  redis: RedisService,
  stream: string,
  documents: Iterable<readonly [id: string, text: string]>,
): Promise<void> {
  const pipeline = redis.client.pipeline();
  for (const [id, text] of documents) pipeline.xadd(stream, '*', 'id', id, 'text', text);
  await pipeline.exec();
}

/** A reading whose deliveries are applied as they come. */
export async function applying(redis: RedisService, stream: string, input: SourceInput) {
  const bed = await openStream(redis, stream, input);
  const ledger = new LedgerDouble();
  const following = follow(bed, ledger);
  let going = true;
  const applied = (async () => {
    while (going) await ledger.apply(await following.next());
  })().catch((error: unknown) => {
    if (going) throw error;
  });
  return {
    notices: bed.notices,
    /** Resolves once these are the texts, and nothing is unconfirmed. */
    async holds(texts: Record<string, string>) {
      await until(async () => {
        const [pending] = (await redis.client.xpending(stream, 'millrace-test')) as [number];
        return pending === 0 && JSON.stringify(ledger.texts()) === JSON.stringify(texts);
      });
    },
    async end() {
      going = false;
      await following.end();
      await applied;
    },
  };
}

export async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; !(await condition()); await delay(10))
    if (Date.now() > deadline) throw new Error('It did not happen within 30 s.');
}

export const codes = (notices: readonly { code: string }[]) => notices.map(({ code }) => code);
