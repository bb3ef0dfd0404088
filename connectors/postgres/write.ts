import { randomInt } from 'node:crypto';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Clock } from '../../src/contracts/context.js';
import type { DocumentWrite, StoreWrite, WriteResult } from '../../src/contracts/sink.js';
import { firstWriteSteps, type FirstWrites } from './first-write.js';
import type { SqlConnection } from './connection.js';
import { encodeChunks, numberField } from './encode.js';
import { fenceSteps, planByKey, type FenceRow } from './fence-sql.js';
import { halfFault } from './half-floats.js';
import { whyNotWritable, type WriteTarget } from './head.js';
import { broughtTexts, heldTextsSql } from './kept-texts-sql.js';
import type { FoundLayout } from './layout.js';
import type { TableNames } from './names.js';
import { stageFor } from './stage.js';
import { columnsFault } from './write-columns.js';
import { vectorsFault } from '../../src/elements/vectors-fault.js';

export interface Writer {
  readonly connection: SqlConnection;
  readonly names: TableNames;
  readonly pipeline: string;
  readonly role: WriteTarget['role'];
  readonly clock: Clock;
  readonly first: FirstWrites;
  /** Whether given texts are to be kept, as far as is known: set when a write without them was refused. */
  readonly kept: { texts: boolean };
  /** What is written to, as it was seen last. */
  found: FoundLayout;
  /** Sees it anew: others gave it columns, or took some. */
  locate(signal?: AbortSignal): Promise<FoundLayout>;
}

/** A btree entry holds 2,704 bytes; the rest is for the pipeline's name. */
const maxIdBytes = 2000;
const conflictTries = 6;
/** Between two tries of a writer that is paused. */
const pauseMs = 25;

/** Writes documents through the fence. @see Sink.write */
export async function writeDocuments(
  writer: Writer,
  writes: readonly DocumentWrite[],
  signal?: AbortSignal,
): Promise<readonly WriteResult[]> {
  if (new Set(writes.map(({ documentId }) => documentId)).size !== writes.length)
    throw new MillraceError('internal', 'A document occurs twice in one call of write.');
  const results = new Array<WriteResult | undefined>(writes.length);
  const sound: number[] = [];
  writes.forEach((write, index) => {
    const fault = faultOf(write, writer.found);
    if (fault === undefined) sound.push(index);
    else results[index] = refused(write, fault);
  });
  await writeApart(sound);
  return results.map((result) => result!);

  /** Together if the store takes them; else halved, until what it refuses is alone. */
  async function writeApart(indices: readonly number[]): Promise<void> {
    if (indices.length === 0) return;
    try {
      const group = indices.map((index) => writes[index]!);
      const outcome = await retryConflicts(writer.clock, signal, () =>
        whenWritable(writer, signal, () => writeTogether(writer, group, signal)),
      );
      indices.forEach((index, at) => (results[index] = outcome[at]));
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'store_refused') throw error;
      if (indices.length === 1) {
        results[indices[0]!] = { kind: 'refused', error };
        return;
      }
      const half = indices.length >> 1;
      await writeApart(indices.slice(0, half));
      await writeApart(indices.slice(half));
    }
  }
}

/** @returns undefined when the generation may not be written now */
async function writeTogether(
  writer: Writer,
  writes: readonly DocumentWrite[],
  signal: AbortSignal | undefined,
): Promise<WriteResult[] | undefined> {
  const { connection, names, first, found } = writer;
  const { spaces, columns } = found;
  const target = targetOf(writer);
  const vectors = spaces[0]!.type;
  const shape = { spaces: spaces.map(({ name }) => name), vectors, terms: writes.some(hasTerms), columns };
  const stage = stageFor(shape);
  if (first.try(writes)) {
    const steps = firstWriteSteps(names, target, shape, stage, writes);
    const worked = (await connection.transaction(steps, signal)).length === steps.length;
    first.tell(worked);
    if (worked) return writes.map(() => ({ kind: 'done', clearedFailure: false }));
  }
  const staged = writes.flatMap((write, index) =>
    write.kind === 'store' && write.chunks.length > 0 ? [{ ...write, lead: numberField(index) }] : [],
  );
  const copy = staged.length === 0 ? [] : [{ copy: stage.target, data: encodeChunks(staged, shape) }];
  const brought = target.keeping
    ? broughtTexts(writes, await heldTexts(connection, names, target, writes, signal))
    : undefined;
  const steps = [stage.make, ...copy, ...fenceSteps(names, target, spaces, stage, writes, brought)];
  const done = await connection.transaction(steps, signal);
  if (done.length < steps.length) return undefined;
  const rows = done.at(-1) as unknown as FenceRow[];
  const results = new Array<WriteResult>(writes.length);
  for (const row of rows) results[row.write] = resultOf(row, writes[row.write]!);
  return results;
}

/** Hashes of what is kept of the documents that are touched: what the store has need not be sent again. */
async function heldTexts(
  connection: SqlConnection,
  names: TableNames,
  { pipeline }: WriteTarget,
  writes: readonly DocumentWrite[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  const ids = writes.filter(({ kind }) => kind === 'touch').map(({ documentId }) => documentId);
  if (ids.length === 0) return new Map();
  const steps = [planByKey, heldTextsSql(names, pipeline, ids)];
  const rows = (await connection.transaction(steps, signal)).at(-1)!;
  return new Map(rows.map((row) => [row['document_id'] as string, row['hash'] as string]));
}

/** Those of a pipeline all have them, or none. */
function hasTerms(write: DocumentWrite): boolean {
  return write.kind === 'store' && write.chunks[0]?.terms !== undefined;
}

function resultOf({ verdict, cleared, owner }: FenceRow, write: DocumentWrite): WriteResult {
  switch (verdict) {
    case 'done':
      return { kind: 'done', clearedFailure: cleared };
    case 'stale':
    case 'moved':
      return { kind: verdict };
    case 'owner':
      return {
        kind: 'refused',
        error: new MillraceError(
          'owner_mismatch',
          `Document ${JSON.stringify(write.documentId)} is owned by source ${JSON.stringify(owner)}, not ${JSON.stringify(write.source)}.`,
          { hint: 'Give the sources different ids, or write them to different pipelines.' },
        ),
      };
    default:
      return verdict satisfies never;
  }
}

/** What can be seen without asking the store; it would refuse the whole batch. */
function faultOf(write: DocumentWrite, { spaces, columns }: FoundLayout): string | undefined {
  if (Buffer.byteLength(write.documentId) > maxIdBytes) return `its id is longer than ${maxIdBytes} bytes`;
  if (write.documentId.includes('\0')) return 'its id holds a NUL';
  if (write.kind !== 'store') return undefined;
  const ids = new Set<string>();
  for (const { id, ordinal, text } of write.chunks) {
    if (ids.has(id)) return `chunk ${id} occurs twice`;
    ids.add(id);
    if (text.includes('\0')) return `chunk ${ordinal} holds a NUL`;
  }
  const fault = vectorsFault(write.chunks.length, write.spaces, spaces);
  return (
    fault ?? (spaces[0]!.type === 'halfvec' ? halvesFault(write) : undefined) ?? columnsFault(columns, write)
  );
}

function halvesFault({ spaces }: StoreWrite): string | undefined {
  for (const { vectors } of spaces)
    for (const [at, vector] of vectors.entries()) {
      const fault = vector === undefined ? undefined : halfFault(vector);
      if (fault !== undefined) return `the vector of chunk ${at} is unfit: ${fault}`;
    }
  return undefined;
}

function refused({ documentId }: DocumentWrite, fault: string): WriteResult {
  const error = new MillraceError(
    'store_refused',
    `Document ${JSON.stringify(documentId.slice(0, 200))} cannot be stored: ${fault}.`,
  );
  return { kind: 'refused', error };
}

/** Waits while writers are paused, and takes up what columns there are now. @throws MillraceError `generation_moved` when another generation is the one to write */
async function whenWritable<T>(
  writer: Writer,
  signal: AbortSignal | undefined,
  work: () => Promise<T | undefined>,
): Promise<T> {
  for (;;) {
    const result = await work();
    if (result !== undefined) return result;
    const target = targetOf(writer);
    const why = await whyNotWritable(writer.connection, writer.names, target, signal);
    if (why === 'columns') writer.found = await writer.locate(signal);
    else if (why === 'keeps') writer.kept.texts = true;
    else if (why !== 'paused') throw moved(target, why.active);
    else await writer.clock.sleep(pauseMs, signal);
  }
}

function targetOf({ pipeline, role, kept, found: { generation, key, columnsJson } }: Writer): WriteTarget {
  return { pipeline, generation, key, role, columnsJson, keeping: kept.texts && role === 'active' };
}

function moved({ pipeline, generation, role }: WriteTarget, active: number | undefined): MillraceError {
  return new MillraceError(
    'generation_moved',
    role === 'active'
      ? `Pipeline ${JSON.stringify(pipeline)} is kept in generation ${active ?? 'none'} now, no longer in ${generation}.`
      : `Generation ${generation} of pipeline ${JSON.stringify(pipeline)} is not beside the active one any more.`,
    { hint: 'Start again with the configuration that the active generation was filled by.' },
  );
}

async function retryConflicts<T>(
  clock: Clock,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'store_conflict' || attempt === conflictTries)
        throw error;
      await clock.sleep(randomInt(5, 10 * 2 ** attempt), signal);
    }
  }
}
