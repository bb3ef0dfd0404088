import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PipelineInput } from '../../src/config/schema.js';
import { startTcpProxy } from '../support/faults/tcp-proxy.js';
import { millrace, type Ended } from '../support/millrace-process.js';
import { seededRandom } from '../support/seeded-random.js';
import { startPostgres } from '../support/services/postgres.js';
import { Daemons } from './daemons.js';
import type { StartDriver, TortureDriver } from './driver.js';
import { planFaults, strike } from './faults.js';
import { howItEnded } from './how-it-ended.js';
import { reckon } from './reckoning.js';
import type { Verdict } from './verify.js';

export interface TortureRun {
  /** An empty folder for configurations and failed elements. */
  readonly folder: string;
  readonly operations: number;
  readonly seed: number;
  /** The operations are spread over so long. */
  readonly ms: number;
  readonly faults: number;
  say(line: string): void;
}

export interface TortureOptions<Change> extends TortureRun {
  readonly startDriver: StartDriver<Change>;
}

export interface TortureResult extends Verdict {
  readonly kills: number;
  /** Daemons that ended by themselves, or not as they were told to, or took something for lost. */
  readonly faulty: readonly string[];
}

const pipeline = 'torture';
const writesAtOnce = 50;
/** Once all is written and all is well again, the daemons must go on confirming. */
const patienceMs = 60_000;
/** More daemons that end by themselves are no accident. */
const mostEnded = 100;
/** A command that takes longer hangs. */
const commandMs = 5 * 60_000;

/**
 * Writes to a source while daemons bring it into a store, kills them, restarts the services and spoils the connections;
 * then compares the store with the log of what was written.
 */
export async function torture<Change>(options: TortureOptions<Change>): Promise<TortureResult> {
  const { folder, seed, faults: count, say } = options;
  const store = await startPostgres();
  const driver = await options.startDriver(seededRandom(seed + 1));
  const storeProxy = await startTcpProxy(Number(new URL(store.url).port));
  const random = seededRandom(seed);
  const plan = planFaults(options.operations, count, random);
  const changes = driver.changes(random, options.operations / 10);
  const input = (url: string, schema: string, steps: PipelineInput['chain'] = []): PipelineInput => ({
    name: pipeline,
    source: driver.config as PipelineInput['source'],
    chain: [
      ...steps,
      { chunk: { markdown: { maxTokens: 48, overlap: 8 } } },
      { embed: { static: { model: 'bundled' } } },
    ],
    sink: { postgres: { url, schema, index: 'off', timeoutMs: 1_500 } } as PipelineInput['sink'],
    failed: { files: { path: `failed-${schema}` } } as PipelineInput['failed'],
    workers: 1,
    limits: { elements: 256, ...driver.limits },
  });
  const logs = join(folder, 'daemons');
  await mkdir(logs, { recursive: true });
  const config = join(folder, 'millrace.json');
  await writeFile(config, JSON.stringify(input(storeProxy.through(store.url), 'tortured', driver.steps)));
  const daemons = new Daemons(config, logs, driver.daemons);
  const targets = {
    source: driver,
    store: { proxy: storeProxy, restart: () => store.restart() },
    kill: (chance: number) => daemons.kill(chance),
  };
  try {
    const began = Date.now();
    let raging = Promise.resolve();
    for (let written = 0; written < options.operations;) {
      const batch = Array.from({ length: Math.min(writesAtOnce, options.operations - written) }, () => {
        return changes.next().value!;
      });
      await driver.write(batch);
      written += batch.length;
      while (plan.length > 0 && plan[0]!.after <= written) {
        const fault = plan.shift()!;
        say(`${fault.kind} after ${fault.after} operations`);
        // One after the other, while the writing goes on.
        raging = raging.then(() => strike(fault, targets));
      }
      await delay(Math.max(0, began + (options.ms * written) / options.operations - Date.now()));
    }
    await raging;
    // A cut that has not come yet would hit what is done to compare.
    for (const { proxy } of [targets.source, targets.store]) proxy.heal();
    say(
      `${options.operations} operations in ${((Date.now() - began) / 1_000).toFixed(0)} s, ${daemons.kills} kills; catching up`,
    );
    await caughtUp(driver, daemons, say);
    say('all is confirmed; ending the daemons');
    const stopped = await daemons.stop();
    say('the last run');
    // What a killed process left to be cleared away is cleared at the next start.
    const last = await millrace(['run', config, '--until-idle'], { limitMs: commandMs });
    const { ended, ...verdict } = await reckon({
      ...{ driver, config, folder, pipeline, url: store.url, schema: 'tortured', commandMs, say },
      undisturbed: { schema: 'reference', input: input(store.url, 'reference') },
    });
    for (const id of new Set(verdict.differences.map((line) => line.split(': ')[0]!)))
      for (const line of (await driver.trace(id)).slice(-6)) say(`written of ${id}: ${line}`);
    return {
      ...verdict,
      kills: daemons.kills,
      faulty: [
        ...daemons.ended.filter(notAway),
        ...[...stopped, last, ...ended].filter(({ code }) => code !== 0),
      ]
        .map(howItEnded)
        .concat(daemons.gaps),
    };
  } finally {
    await daemons.abandon();
    await driver.stop();
    await storeProxy.stop();
    await store.stop();
  }
}

/** A start ends with this where a service is away; a run that had begun must wait. */
function notAway({ stderr }: Ended): boolean {
  return !/"type":"error","error":{"code":"(source|store)_unavailable"/.test(stderr);
}

async function caughtUp(
  driver: Pick<TortureDriver<never>, 'backlog'>,
  daemons: Pick<Daemons, 'ended'>,
  say: (line: string) => void,
): Promise<void> {
  let last = Infinity;
  let saidAt = Date.now();
  for (let movedAt = Date.now(); ; await delay(200)) {
    const backlog = await driver.backlog();
    if (backlog === 0) return;
    // It rises too, while what was taken over from the killed is read again.
    if (backlog !== last) movedAt = Date.now();
    last = backlog;
    if (daemons.ended.length > mostEnded || Date.now() > movedAt + patienceMs) {
      const last = daemons.ended.slice(-3).map((how) => `A daemon ${howItEnded(how)}`);
      throw new Error(
        [
          `${backlog} changes are not confirmed, nothing moved in ${Math.round((Date.now() - movedAt) / 1_000)} s, and ${daemons.ended.length} daemons ended.`,
          ...last,
        ].join('\n'),
      );
    }
    if (Date.now() > saidAt + 10_000) {
      saidAt = Date.now();
      say(`${backlog} changes to go`);
    }
  }
}
