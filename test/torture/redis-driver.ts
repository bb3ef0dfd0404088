import { streamInfo } from '../../connectors/redis/stream-info.js';
import { contentHash } from '../../src/elements/hash.js';
import { versionOf } from '../../src/elements/version.js';
import { startTcpProxy } from '../support/faults/tcp-proxy.js';
import { startRedis } from '../support/services/redis.js';
import type { StartDriver } from './driver.js';
import { OperationLog } from './log.js';
import { operations as documentOperations, type Operation } from './operations.js';

const stream = 'torture';
const group = 'millrace-torture';

/** A Redis stream read by three daemons in one group. */
export const startRedisDriver: StartDriver<Operation> = async () => {
  const redis = await startRedis();
  const proxy = await startTcpProxy(Number(new URL(redis.url).port));
  const log = new OperationLog();
  await redis.client.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
  return {
    source: `redis:${stream}`,
    config: {
      redis: {
        ...{ url: proxy.through(redis.url), stream, group, count: 64 },
        ...{ timeoutMs: 1_500, claimIdleMs: 2_000 },
        // It is the torture that ends the processes, not an entry.
        maxDeliveries: 1_000,
      },
    },
    // What was trimmed from a stream is known to nobody; the log is the reference.
    audited: false,
    daemons: 3,
    proxy,
    changes: documentOperations,
    async write(operations) {
      for (;;) {
        const pipeline = redis.client.pipeline();
        for (const operation of operations) pipeline.xadd(stream, '*', ...fieldsOf(operation));
        const results = await pipeline.exec().catch(() => null);
        // Once more from the start: a second copy of a version says the same as the first.
        if (results !== null && results.every(([error]) => error === null)) break;
      }
      for (const operation of operations) log.add(operation);
    },
    restart: () => redis.restart(),
    async backlog() {
      const about = (await redis.client.xinfo('STREAM', stream)) as unknown[];
      const groups = (await redis.client.xinfo('GROUPS', stream)) as unknown[];
      const { length, lastId, group: own } = streamInfo(about, groups, group);
      const [pending] = (await redis.client.xpending(stream, group)) as [number];
      if (own!.delivered === lastId) return pending;
      // A restart in a crash makes Redis's count of what is unread wrong, or loses it: then all of it may be.
      return pending + (own!.lag ?? length);
    },
    expected: () => Promise.resolve(log.documents),
    async trace(id) {
      const entries = await redis.client.xrange(stream, '-', '+');
      return entries.flatMap(([entry, fields]) => {
        const [, owner, field, value = ''] = fields;
        if (owner !== id) return [];
        const [at, index] = entry.split('-') as [string, string];
        const version = versionOf(0, BigInt(at), BigInt(index));
        const metadata = Object.fromEntries(pairs(fields.slice(4)));
        const what = field === 'text' ? contentHash({ text: value, metadata }) : `${field} ${value}`;
        return [`${entry} ${version} ${what}`];
      });
    },
    async stop() {
      await proxy.stop();
      await redis.stop();
    },
  };
};

function pairs(list: readonly string[]): [string, string][] {
  return list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1]!] as [string, string]] : []));
}

function fieldsOf(operation: Operation): string[] {
  switch (operation.kind) {
    case 'put': {
      const metadata = Object.entries(operation.metadata).flatMap(([key, value]) => [key, String(value)]);
      return ['id', operation.id, 'text', operation.text, ...metadata];
    }
    case 'delete':
      return ['id', operation.id, 'op', 'delete'];
    case 'bad':
      return ['id', operation.id, 'note', 'it has no text'];
    default:
      return operation satisfies never;
  }
}
