import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { PipelineInput } from '../../../src/config/schema.js';
import type { RunSummary } from '../../../src/observability/events.js';
import { startTcpProxy } from '../../support/faults/tcp-proxy.js';
import { startMillrace, type Ended } from '../../support/millrace-process.js';
import { seededRandom } from '../../support/seeded-random.js';
import { startPostgres } from '../../support/services/postgres.js';
import { auditFindings } from '../audit-findings.js';
import { howItEnded } from '../how-it-ended.js';
import { backfillState } from './backfill-state.js';
import { compareTable } from './compare-table.js';
import { LiveTable } from './live-table.js';
import { sampleDifferences } from './sample-differences.js';

export interface BackfillRun {
  /** An empty folder for the configuration and failed elements. */
  readonly folder: string;
  readonly rows: number;
  readonly seed: number;
  /** Live changes while the rows are read. */
  readonly changesPerSecond: number;
  /** How often it is looked how far the reading is. */
  readonly lookMs: number;
  readonly limits?: PipelineInput['limits'];
  readonly batch?: number;
  /** Every piece of data on its way to and from the store waits so long: a short table takes its time too. */
  readonly storeDelayMs?: number;
  say(line: string): void;
}

export interface BackfillResult {
  readonly rows: number;
  readonly chunks: number;
  readonly changes: number;
  /** Rows that were durable when the daemon was killed, for each kill. */
  readonly killedAt: readonly number[];
  /** Rows and changes that the last daemon read although the store had them, or something newer. */
  readonly readAgain: number;
  readonly differences: readonly string[];
}

const [pipeline, schema, source] = ['backfill', 'backfilled', 'postgres:articles'];
const sayEveryMs = 10_000;

/**
 * Brings a full table into an empty store while it is written to, kills the daemon twice on the way, and compares what
 * the store holds in the end with the table.
 * @throws Error where the reading was over before a kill, or a daemon ended by itself
 */
export async function tortureBackfill(run: BackfillRun): Promise<BackfillResult> {
  const { folder, rows, seed, say } = run;
  const random = seededRandom(seed);
  const server = await startPostgres({ wal_level: 'logical' });
  const store = await startPostgres({ shared_buffers: '256MB' });
  const proxy = await startTcpProxy(Number(new URL(store.url).port));
  proxy.delay(run.storeDelayMs ?? 0);
  const table = new LiveTable(server.url, rows, seededRandom(seed + 1));
  const look = new pg.Client({ connectionString: store.url });
  const config = join(folder, 'millrace.json');
  let daemon: ReturnType<typeof startMillrace> | undefined;

  /** Durable rows, told with the rate and the time that is left. @returns once `over` says so, or the daemon ended */
  async function watch(over: (durable: number) => boolean): Promise<number> {
    const began = Date.now();
    let [saidAt, first] = [began, undefined as number | undefined];
    for (;;) {
      const state = await backfillState(look, schema, pipeline, source);
      const durable = state?.over === true ? rows : (state?.rows ?? 0);
      first ??= durable;
      if (over(durable)) return durable;
      if (state?.over === true) throw new Error('All rows were read before the daemon was killed.');
      if (Date.now() > saidAt + sayEveryMs) {
        saidAt = Date.now();
        say(progressLine({ durable, rows, perSecond: ((durable - first) * 1_000) / (saidAt - began) }));
      }
      if (await Promise.race([daemon!.ended.then(() => true), delay(run.lookMs).then(() => false)])) {
        throw new Error(`The daemon ${howItEnded(await daemon!.ended)}`);
      }
    }
  }

  try {
    await mkdir(folder, { recursive: true });
    const input = configuration(server.url, proxy.through(store.url), run);
    await writeFile(config, JSON.stringify(input));
    await look.connect();
    await table.fill();
    say(`${rows} rows are there`);
    table.start(run.changesPerSecond);
    const killedAt: number[] = [];
    for (const [from, to] of [
      [0.1, 0.45],
      [0.5, 0.85],
    ] as const) {
      const at = Math.floor(rows * (from + (to - from) * random()));
      daemon = startMillrace(['run', config]);
      await watch((durable) => durable >= at);
      // Somewhere between two signs of what is durable.
      await delay(random() * 200);
      daemon.child.kill('SIGKILL');
      await daemon.ended;
      const state = (await backfillState(look, schema, pipeline, source))!;
      if (state.over) throw new Error('All rows were read before the daemon was killed.');
      killedAt.push(state.rows);
      say(`killed: ${state.rows} of ${rows} rows are durable`);
    }
    daemon = startMillrace(['run', config, '--until-idle']);
    let ended = false;
    void daemon.ended.then(() => (ended = true));
    await watch((durable) => ended || durable === rows).catch((error: unknown) => {
      if (!ended) throw error;
    });
    const last = await daemon.ended;
    say('all rows are read; the changes go on');
    await table.stop();
    daemon = startMillrace(['run', config, '--until-idle']);
    const rest = await daemon.ended;
    say(`${table.written} changes were made meanwhile; comparing`);
    const both = { source: server.url, store: store.url, pipeline, schema };
    const compared = await compareTable(both);
    const { epoch } = (await backfillState(look, schema, pipeline, source))!;
    return {
      ...{ rows: compared.rows, chunks: compared.chunks, changes: table.written, killedAt },
      readAgain: readAgain(last),
      differences: [
        ...compared.differences,
        ...(await sampleDifferences({ ...both, folder, input, name: source, random })),
        ...(await auditFindings(config, new Map())),
        ...(epoch === 0 ? [] : [`: the positions were taken for others (epoch ${epoch})`]),
        ...[last, rest].filter(({ code }) => code !== 0).map((how) => `: a daemon ${howItEnded(how)}`),
      ],
    };
  } finally {
    daemon?.child.kill('SIGKILL');
    await table.close();
    await look.end();
    await proxy.stop();
    await Promise.all([server.stop(), store.stop()]);
  }
}

function configuration(url: string, store: string, { limits, batch }: BackfillRun): PipelineInput {
  return {
    name: pipeline,
    source: {
      postgres: {
        ...{ url, table: 'articles', text: ['title', 'body'], metadata: ['revision'] },
        ...(batch !== undefined && { batch }),
        // The next daemon need not wait long for one that is dead.
        takeoverMs: 1_000,
      },
    },
    chain: [{ chunk: { markdown: { maxTokens: 48 } } }, { embed: { static: { model: 'bundled' } } }],
    sink: { postgres: { url: store, schema, index: 'off' } },
    failed: { files: { path: 'failed' } },
    workers: 1,
    ...(limits !== undefined && { limits }),
  } as PipelineInput;
}

/** By its own last line. */
function readAgain({ stderr }: Ended): number {
  const line = stderr.split('\n').find((one) => one.includes('"type":"finished"'));
  if (line === undefined) return Infinity;
  const { outcomes } = (JSON.parse(line) as { readonly summary: RunSummary }).summary;
  return outcomes.unchanged + outcomes.stale;
}

function progressLine(progress: { durable: number; rows: number; perSecond: number }): string {
  const { durable, rows, perSecond } = progress;
  const left = perSecond > 0 ? `${Math.ceil((rows - durable) / perSecond)} s to go` : 'no rate yet';
  const share = ((100 * durable) / rows).toFixed(1);
  return `${durable} of ${rows} rows (${share} %), ${Math.round(perSecond)} rows/s, ${left}`;
}
