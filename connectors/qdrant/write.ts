import { randomInt } from 'node:crypto';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Clock } from '../../src/contracts/context.js';
import type { DocumentWrite, WriteResult } from '../../src/contracts/sink.js';
import type { SpaceLayout } from '../../src/contracts/store.js';
import { clearsFailure } from './judge.js';
import { keptVectors } from './kept-vectors.js';
import { ledgerPayload } from './ledger.js';
import { documentKey, type CollectionNames } from './names.js';
import { bringsText, changedText, planWrite, recordAfter, touchOf, type Plan } from './plan.js';
import type { QdrantPort } from './port.js';
import { readLedger } from './read-ledger.js';
import { compareAndSet } from './revision.js';
import { discard, settle, type Tell } from './settle.js';
import { chunkPieces, textPieces, upload, type RequestBounds } from './upload.js';
import { writeFault } from './write-fault.js';

export interface Writer {
  readonly port: QdrantPort;
  readonly names: CollectionNames;
  readonly pipeline: string;
  readonly clock: Clock;
  readonly bounds: RequestBounds;
  /** What the head says now. @throws MillraceError `generation_moved` where the generation may not be written any more */
  look(signal?: AbortSignal): Promise<Looked>;
  readonly tell: Tell;
}

export interface Looked {
  /** Other generations follow this one. */
  readonly followed: boolean;
  /** The epoch since which texts are kept; undefined where they are not. */
  readonly keptSince: number | undefined;
}

/** Each time a write has to begin anew another one of that document was committed, so somebody always gets on. */
const mostAttempts = 60;

/** Writes documents through the fence. @see Sink.write */
export async function writeDocuments(
  writer: Writer,
  spaces: readonly SpaceLayout[],
  writes: readonly DocumentWrite[],
  signal?: AbortSignal,
): Promise<readonly WriteResult[]> {
  if (new Set(writes.map(({ documentId }) => documentId)).size !== writes.length)
    throw new MillraceError('internal', 'A document occurs twice in one call of write.');
  const results = new Map<number, WriteResult>();
  for (const [at, write] of writes.entries()) {
    const fault = writeFault(write, spaces);
    if (fault !== undefined) results.set(at, refused(write, fault));
  }
  for (let attempt = 1; results.size < writes.length; attempt++) {
    if (attempt > mostAttempts)
      throw new MillraceError('store_conflict', `Other writers came first ${mostAttempts} times.`);
    if (attempt > 1) await writer.clock.sleep(randomInt(1, Math.min(10 * attempt, 200)), signal);
    await attemptWrites(writer, spaces, writes, results, signal);
  }
  return writes.map((_, at) => results.get(at)!);
}

/**
 * One round for all writes without a result. Chunks go in unseen, under a name of this write alone; the ledger is
 * changed if nobody changed it since it was read, which decides; then the chunks are shown and the earlier ones removed.
 * A write that lost takes back its chunks and is judged again in the next round.
 */
async function attemptWrites(
  writer: Writer,
  spaces: readonly SpaceLayout[],
  writes: readonly DocumentWrite[],
  results: Map<number, WriteResult>,
  signal?: AbortSignal,
): Promise<void> {
  const { port, names, pipeline, bounds, look, tell } = writer;
  const open = [...writes.entries()].filter(([at]) => !results.has(at));
  const ids = new Map(open.map(([, { documentId }]) => [documentId, documentKey(pipeline, documentId)]));
  const known = await readLedger(port, names, [...ids.values()], tell, signal);
  const { keptSince } = await look(signal);
  const judged = open.flatMap(([at, write]): Plan[] => {
    const id = ids.get(write.documentId)!;
    const base = known.get(id);
    const plan = planWrite({ at, write, base, id }, keptSince);
    if (typeof plan === 'object') return [plan];
    results.set(at, plan === 'owner' ? ownedByAnother(write, base!.entry.source) : { kind: plan });
    return [];
  });
  const kept = await keptVectors(port, names, judged, signal);
  for (const { at } of kept.lacking) results.set(at, { kind: 'moved' });
  const planned = judged.filter(({ at }) => !results.has(at));

  const faults = new Map(
    await upload(port, names.chunks, bounds, chunkPieces(planned, kept.vectors), signal),
  );
  const texts = textPieces(planned.filter((plan) => !faults.has(plan)));
  for (const [plan, fault] of await upload(port, names.texts, bounds, texts, signal)) faults.set(plan, fault);
  for (const [{ at, write }, fault] of faults) results.set(at, refused(write, fault.message, fault));
  const uploaded = planned.filter(({ at }) => !results.has(at));

  const { followed } = await look(signal);
  const records = uploaded.map((plan) => recordAfter(plan, followed));
  const revisions = await compareAndSet(
    port,
    names.ledger,
    uploaded.map((plan, at) => ({
      id: plan.id,
      base: plan.base,
      payload: ledgerPayload(records[at]!),
    })),
    signal,
  );
  const won = uploaded.filter((_, at) => revisions[at] !== undefined);
  const lost = uploaded.filter((_, at) => revisions[at] === undefined);
  // Others may follow since: what was to be told to nobody is told to them.
  const now = await look(signal);
  await settle(
    port,
    names,
    uploaded.flatMap((plan, at) =>
      revisions[at] === undefined || (records[at]!.settled && !now.followed)
        ? []
        : [
            {
              ...plan,
              ...records[at]!,
              ...records[at]!.entry,
              rev: revisions[at].rev,
              text: changedText(plan),
            },
          ],
    ),
    tell,
    signal,
  );
  const left = [...lost, ...faults.keys()];
  await discard(port, names.chunks, left.filter(hasChunks), signal);
  await discard(port, names.texts, left.filter(bringsText), signal);
  // So with texts: what was not to be kept when the write began is brought after it.
  if (now.keptSince !== keptSince) {
    const touches = won.flatMap(({ write }) => touchOf(write) ?? []);
    await writeDocuments(writer, spaces, touches, signal);
  }
  for (const { at, write, base } of won)
    results.set(at, { kind: 'done', clearedFailure: clearsFailure(write, base?.entry) });
}

function hasChunks({ write }: Plan): boolean {
  return write.kind === 'store' && write.chunks.length > 0;
}

function refused({ documentId }: DocumentWrite, fault: string, cause?: MillraceError): WriteResult {
  const shown = JSON.stringify(documentId.slice(0, 200));
  const error = new MillraceError('store_refused', `Document ${shown} cannot be stored: ${fault}.`, {
    cause,
    ...(cause?.hint !== undefined && { hint: cause.hint }),
  });
  return { kind: 'refused', error };
}

function ownedByAnother({ documentId, source }: DocumentWrite, owner: string): WriteResult {
  const error = new MillraceError(
    'owner_mismatch',
    `Document ${JSON.stringify(documentId)} is owned by source ${JSON.stringify(owner)}, not ${JSON.stringify(source)}.`,
    { hint: 'Give the sources different ids, or write them to different pipelines.' },
  );
  return { kind: 'refused', error };
}
