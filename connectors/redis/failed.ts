import { resolve } from 'node:path';
import type { Redis } from 'ioredis';
import { failedRecordSchema } from '../../src/elements/failed-record-schema.js';
import type { FailedRecord, FailedStore, FailedStoreFactory } from '../../src/contracts/failed-store.js';
import { inWrites } from '../../src/elements/in-writes.js';
import { matchesFailed } from '../../src/elements/matches-failed.js';
import { messageOf } from '../../src/errors/message-of.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { connect } from './client.js';
import type { RedisFailedConfig } from './config.js';
import { readFailedIndex } from './failed-index.js';
import { discardScript, expireScript, getScript, putScript } from './failed-scripts.js';
import { volatility } from './volatility.js';

/** Documents of one script at most: others wait while it runs. */
const atOnce = 500;

/** Failed elements in a Redis stream, one entry a document. Connects at its first use. */
export const openRedisFailed: FailedStoreFactory<RedisFailedConfig> = async (given, context) => {
  const { pipeline, notify, baseFolder } = context;
  const config = { ...given, ...(given.ca !== undefined && { ca: resolve(baseFolder, given.ca) }) };
  const keys = [config.stream, `${config.stream}:${pipeline}`] as const;
  let connecting: Promise<Redis> | undefined;

  async function open(): Promise<Redis> {
    const client = await connect(config, {
      name: 'millrace failed',
      patient: false,
      unavailable: 'failed_sink_unavailable',
    });
    const danger = await volatility(client);
    if (danger !== undefined) notify({ level: 'warn', code: 'failed_sink_volatile', message: danger });
    return client;
  }

  async function withClient<Result>(work: (client: Redis) => Promise<Result>): Promise<Result> {
    try {
      return await work(await (connecting ??= open()));
    } catch (error) {
      // One that never connected does not try again by itself.
      if (error instanceof MillraceError) connecting = undefined;
      throw unavailable(config.stream, error);
    }
  }

  const run = <Result>(script: string, args: readonly string[]) =>
    withClient((client) => client.eval(script, 2, ...keys, ...args) as Promise<Result>);

  async function inTurns(ids: readonly string[][], script: string, first: readonly string[]) {
    let removed = 0;
    for (let at = 0; at < ids.length; at += atOnce)
      removed += await run<number>(script, [...first, ...ids.slice(at, at + atOnce).flat()]);
    return removed;
  }

  const get = async (documentId: string): Promise<FailedRecord | undefined> => {
    const fields = await run<string[] | null>(getScript, [documentId]);
    return fields === null ? undefined : recordOf(fields);
  };
  const index = () => withClient((client) => readFailedIndex(client, keys[1]));

  return {
    async put(records) {
      for (const some of inWrites(records)) await run(putScript, [pipeline, ...some.flatMap(argumentsOf)]);
    },
    async *list(filter) {
      for (const facts of await index()) {
        const record = matchesFailed(facts, filter) ? await get(facts.documentId) : undefined;
        // It may have failed anew, elsewhere, since it was listed.
        if (record !== undefined && matchesFailed({ ...record, code: record.error.code }, filter))
          yield record;
      }
    },
    get,
    discard: (given) =>
      inTurns(
        given.map(({ documentId, version }) => [documentId, version]),
        discardScript,
        [],
      ),
    async expire(before) {
      const old = (await index()).filter(({ lastAt }) => lastAt < before);
      return inTurns(
        old.map(({ documentId }) => [documentId]),
        expireScript,
        [before],
      );
    },
    async close() {
      const client = await connecting?.catch(() => undefined);
      client?.disconnect();
    },
  } satisfies FailedStore;
};

function argumentsOf(record: FailedRecord): string[] {
  const { documentId, version, attempts, firstAt, lastAt, stage, error } = record;
  return [documentId, version, String(attempts), firstAt, lastAt, stage, error.code, JSON.stringify(record)];
}

/** @param fields names and values by turns */
function recordOf(fields: readonly string[]): FailedRecord {
  const value = (name: string) => fields[fields.findIndex((field, at) => at % 2 === 0 && field === name) + 1];
  const record = failedRecordSchema.parse(JSON.parse(value('record') ?? 'null'));
  return { ...record, attempts: Number(value('attempts')), firstAt: value('firstAt') ?? record.firstAt };
}

function unavailable(stream: string, error: unknown): MillraceError {
  if (error instanceof MillraceError) return error;
  const reason = messageOf(error);
  return new MillraceError(
    'failed_sink_unavailable',
    `Failed elements cannot be kept in the Redis stream ${stream}: ${reason}`,
    {
      cause: error,
      hint: 'Has Redis memory left, is the key a stream, and may this user use it (EVAL, XADD, XDEL, XRANGE, HSET, HGET, HDEL, HSCAN)?',
    },
  );
}
