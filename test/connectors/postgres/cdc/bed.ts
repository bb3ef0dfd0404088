import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { z } from 'zod';
import { cdcConfig } from '../../../../connectors/postgres/cdc/config.js';
import { openPostgresSource } from '../../../../connectors/postgres/cdc/source.js';
import type { Notice } from '../../../../src/contracts/context.js';
import type { Delivery, ElementsDelivery, Source, SourceContext } from '../../../../src/contracts/source.js';
import type { SourceElement } from '../../../../src/elements/document.js';
import { systemClock } from '../../../../src/flow/system-clock.js';
import { LedgerDouble } from '../../../support/ledger-double.js';
import { startPostgres, type PostgresService } from '../../../support/services/postgres.js';

export type SourceInput = Partial<z.input<typeof cdcConfig>>;

export interface CdcServer extends PostgresService {
  /** Runs statements, one after the other, each in a transaction of its own. */
  sql(...statements: string[]): Promise<pg.QueryResult>;
  /** A connection for a transaction that stays open. */
  connect(): Promise<pg.Client>;
}

export async function startCdcServer(settings: Readonly<Record<string, string>> = {}): Promise<CdcServer> {
  const server = await startPostgres({
    wal_level: 'logical',
    max_replication_slots: '60',
    max_wal_senders: '40',
    ...settings,
  });
  const connect = async () => {
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  return {
    url: server.url,
    get pid() {
      return server.pid;
    },
    restart: (options) => server.restart(options),
    stop: () => server.stop(),
    connect,
    async sql(...statements) {
      const client = await connect();
      try {
        let last: pg.QueryResult | undefined;
        for (const statement of statements) last = await client.query(statement);
        return last!;
      } finally {
        await client.end();
      }
    },
  };
}

export interface TableBed {
  readonly source: Source;
  readonly notices: Notice[];
}

/** @param pipeline names slot and publication, and so must differ from test to test */
export async function openTable(
  server: { readonly url: string },
  pipeline: string,
  input: SourceInput = {},
): Promise<TableBed> {
  const notices: Notice[] = [];
  const config = cdcConfig.parse({
    url: server.url,
    ...(input.tables === undefined && { table: pipeline, text: 'body' }),
    ...input,
  });
  const source = await openPostgresSource(config, {
    pipeline,
    baseFolder: '/',
    clock: systemClock,
    notify: (notice) => notices.push(notice),
  });
  return { source, notices };
}

/** Reads and applies all there is. @returns the elements, in order */
export async function readAll({ source }: TableBed, ledger: LedgerDouble): Promise<SourceElement[]> {
  const elements: SourceElement[] = [];
  for await (const delivery of source.deliveries(ledger.context(systemClock))) {
    if (delivery.kind === 'elements') elements.push(...delivery.elements);
    await ledger.apply(delivery);
  }
  return elements;
}

/** A reading that goes on, one delivery at a time. */
export function follow(
  { source }: TableBed,
  ledger = new LedgerDouble(),
  parts: Partial<SourceContext> = {},
) {
  const stop = new AbortController();
  const context = ledger.context(systemClock, { watch: true, signal: stop.signal, ...parts });
  const iterator = source.deliveries(context)[Symbol.asyncIterator]();
  const next = async (): Promise<Delivery> => {
    const { value, done } = (await iterator.next()) as IteratorResult<Delivery>;
    if (done === true) throw new Error('The source ended.');
    return value;
  };
  return {
    ledger,
    next,
    /** The next delivery of elements; others are applied. */
    async elements(): Promise<ElementsDelivery> {
      for (;;) {
        const delivery = await next();
        if (delivery.kind === 'elements') return delivery;
        await ledger.apply(delivery);
      }
    },
    /** Applies what comes until all there is for now was applied. @returns the elements */
    async caughtUp(): Promise<SourceElement[]> {
      const elements: SourceElement[] = [];
      for (;;) {
        const delivery = await next();
        if (delivery.kind === 'elements') elements.push(...delivery.elements);
        if (delivery.kind === 'caught-up') return elements;
        await ledger.apply(delivery);
      }
    },
    /** Stops without settling anything more. */
    async end(): Promise<void> {
      stop.abort(new Error('ended by the test'));
      await iterator.return?.();
    },
  };
}

/** Connections of the source that the server sees, once those that are going have gone. */
export async function heldBy(server: CdcServer, pipeline: string): Promise<number> {
  const count = async () => {
    const { rows } = await server.sql(
      `select count(*)::int as held from pg_stat_activity where application_name = 'millrace ${pipeline}'`,
    );
    return (rows[0] as { held: number }).held;
  };
  let held = await count();
  for (let tries = 0; held > 0 && tries < 400; tries += 1) {
    await delay(25);
    held = await count();
  }
  return held;
}

export async function slotOf(server: CdcServer, pipeline: string) {
  const { rows } = await server.sql(
    `select confirmed_flush_lsn, active_pid, wal_status from pg_replication_slots where slot_name = 'millrace_${pipeline}'`,
  );
  return rows[0] as
    { confirmed_flush_lsn: string; active_pid: number | null; wal_status: string } | undefined;
}
