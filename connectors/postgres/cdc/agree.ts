import type { Notice } from '../../../src/contracts/context.js';
import type { SourceState } from '../../../src/contracts/source.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import type { CdcConfig } from './config.js';
import { endOfFlushedLog } from './end-of-log.js';
import { parseLsn, printLsn } from './lsn.js';
import type { SourceMemory } from './memory.js';
import type { ServerIdentity } from './replication.js';
import { createSlot, dropSlot, lookAtSlot, type Slot } from './slot.js';
import type { SqlSession } from './sql-session.js';

export interface AgreeOptions {
  readonly sql: SqlSession;
  readonly state: SourceState;
  /** The server, and where its log ends by now. */
  identify(): Promise<ServerIdentity>;
  readonly config: CdcConfig;
  readonly slot: string;
  /** Digest of how rows become documents. */
  readonly mapping: string;
  readonly types: SourceMemory['types'];
  notify(notice: Notice): void;
}

/**
 * Compares slot, server and memory, and makes the slot where that is right. Where changes may be missing, a new epoch
 * begins with a reading of all rows; there is never a slot that begins in silence after what was read before.
 * @returns undefined while another process reads the slot, or makes it
 * @throws MillraceError `source_gap` where the configuration asks to stop then
 */
export async function agree(options: AgreeOptions): Promise<SourceMemory | undefined> {
  const { sql, state, identify, config, slot: name, notify } = options;
  for (;;) {
    // In this order, as whoever read before may still confirm: the slot is never beyond what the store was told before it,
    // nor the store beyond the log.
    let slot = await lookAtSlot(sql, name);
    if (slot?.reader !== undefined) return undefined;
    const known = (await state.read()) as SourceMemory | undefined;
    const server = await identify();
    const gap = known === undefined ? undefined : gapBetween(known, server, slot, name);
    if (gap !== undefined && config.onGap === 'stop')
      throw new MillraceError('source_gap', `Changes may be missing: ${gap}.`, {
        hint: 'Look what happened, then run with `onGap: reread`: all rows are read again, and what is gone is deleted.',
      });
    if (slot === undefined || slot.lost) {
      if (!config.make)
        throw new MillraceError(
          'config_invalid',
          slot === undefined
            ? `There is no replication slot ${name}.`
            : `The server has invalidated the replication slot ${name}: its log is gone.`,
          {
            hint: `Run: ${slot === undefined ? '' : `select pg_drop_replication_slot('${name}'); `}select pg_create_logical_replication_slot('${name}', 'pgoutput');`,
          },
        );
      if (slot !== undefined) await dropSlot(sql, name);
      if (!(await createSlot(sql, name, config.failover))) continue;
      slot = await lookAtSlot(sql, name);
      if (slot === undefined) continue;
    }
    const next = await nextMemory(options, { known, gap, server, slot });
    if (next === undefined) return known!;
    if (!(await state.replace(known, next))) continue;
    if (gap !== undefined)
      notify({
        level: 'warn',
        code: 'source_gap',
        message: `Changes may be missing: ${gap}. All rows are read again (epoch ${next.epoch}), and what is gone is deleted.`,
      });
    else if (known !== undefined && next.backfill !== known.backfill)
      notify({
        level: 'info',
        code: 'source_reread',
        message: 'Rows become documents in another way than before: all rows are read again.',
      });
    return next;
  }
}

/** Why changes may be missing between what was read and what the slot will send. */
function gapBetween(
  known: SourceMemory,
  server: ServerIdentity,
  slot: Slot | undefined,
  name: string,
): string | undefined {
  const confirmed = parseLsn(known.confirmed);
  if (known.system !== server.system) return 'this is another database cluster than before';
  if (known.timeline !== server.timeline)
    return `the server is on timeline ${server.timeline}, and was on ${known.timeline}: a standby was promoted, or a backup restored`;
  if (server.position < confirmed)
    return `the log of the server ends at ${printLsn(server.position)}, before what was read (${known.confirmed})`;
  if (known.slot !== name) return `the slot ${name} takes the place of ${known.slot}`;
  if (slot === undefined) return `the slot ${name} is gone`;
  if (slot.lost) return `the server has invalidated the slot ${name}, since it held back too much log`;
  if (slot.confirmed > confirmed)
    return `the slot ${name} begins at ${printLsn(slot.confirmed)}, after what was read (${known.confirmed})`;
  return undefined;
}

interface Found {
  readonly known: SourceMemory | undefined;
  readonly gap: string | undefined;
  readonly server: ServerIdentity;
  readonly slot: Slot;
}

/** @returns undefined when the memory is right as it is */
async function nextMemory(
  { sql, slot: name, mapping, types }: AgreeOptions,
  { known, gap, server, slot }: Found,
): Promise<SourceMemory | undefined> {
  const fresh = (epoch: number): SourceMemory => ({
    epoch,
    system: server.system,
    timeline: server.timeline,
    slot: name,
    confirmed: printLsn(slot.confirmed),
    mapping,
    types,
    backfill: { point: printLsn(slot.confirmed), tables: {}, rows: 0 },
    holder: '',
    beat: 0,
  });
  if (known === undefined) return fresh(0);
  if (gap !== undefined) return fresh(known.epoch + 1);
  if (known.mapping === mapping) return undefined;
  // What was committed before is in the rows that are read now: it is not asked for again, whatever its shape was.
  const point = printLsn(await endOfFlushedLog(sql));
  return { ...known, mapping, types, confirmed: point, backfill: { point, tables: {}, rows: 0 } };
}
