import type { Clock } from '../../contracts/context.js';
import type { BehindDocument, Generations } from '../../contracts/generations.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { errorPolicy } from '../../flow/error-policy.js';
import { retry } from '../../flow/retry.js';
import type { Report } from '../../observability/events.js';
import type { Trace } from '../../pipeline/trace.js';

export interface FillOptions {
  readonly generations: Generations;
  readonly number: number;
  /** What is to be done of these documents; unknown ones are left out. */
  works(documentIds: readonly string[]): Promise<readonly FillWork[]>;
  /** Documents a second at most. Default: no limit. */
  readonly rate?: number | undefined;
  readonly clock: Clock;
  /** Stops the filling between two batches. */
  readonly draining: AbortSignal;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** A document that is taken over. */
export interface FillWork {
  readonly documentId: string;
  /** UTF-16 code units of its text. */
  readonly characters: number;
  /** Tells how far it came. */
  readonly trace: Pick<Trace, 'stage'>;
  /** Brings the generation to what the active one holds of the document. @returns how many texts were embedded */
  takeOver(): Promise<number>;
}

export interface FillSummary {
  readonly documents: number;
  readonly embedded: number;
  /** What cannot be taken over, and why; these documents stay behind. */
  readonly refused: ReadonlyMap<string, MillraceError>;
}

const atOnce = 64;
/** Chunks that are read at once. */
const chunksAtOnce = 2_000;
/** While one batch is embedded another one is read, and a third one written. */
const batches = 3;
/** Documents of a killed process come back after this; those that this process still works on are not taken again. */
const leaseMs = 20_000;
const countEveryMs = 2_000;
/** How long the first batches are measured before anybody is told, and from one word to the next. */
const measureMs = 5_000;
const tellEveryMs = 60_000;
/** A round that found no more than this has caught up with the writers. */
const fewDocuments = 200;

/** Takes over what a generation is behind in and nobody else has claimed, until writers change no more than it can follow. */
export async function fillGeneration(options: FillOptions): Promise<FillSummary> {
  const { generations, number, works, rate, clock, draining, signal, report } = options;
  const patiently = <T>(call: () => Promise<T>) =>
    retry(call, {
      clock,
      signal,
      onRetry: (event) => report({ type: 'retry', lane: 'sink', ...event }),
      onRecovered: () => report({ type: 'recovered', lane: 'sink' }),
    });
  const refused = new Map<string, MillraceError>();
  const began = clock.now();
  const underWay = new Set<string>();
  let [documents, embedded, countedAt, tellAt] = [0, 0, 0, began + measureMs];
  // A round goes through the ids once. After one that found little the filling ends.
  let [after, inRound, over] = ['', 0, false];

  async function next(): Promise<readonly BehindDocument[]> {
    // At a rate a tenth of a second's worth: the more at once, the longer the pauses between.
    const limit = rate === undefined ? atOnce : Math.min(atOnce, Math.ceil(rate / 10));
    while (!over) {
      const claimed = await patiently(() => generations.claim(number, { after, limit, leaseMs }, signal));
      // What was refused would be refused again.
      const fresh = claimed.filter(({ documentId: id }) => !refused.has(id) && !underWay.has(id));
      inRound += fresh.length;
      after = claimed.at(-1)?.documentId ?? '';
      if (claimed.length < limit) {
        over = inRound <= fewDocuments;
        [after, inRound] = ['', 0];
      }
      if (fresh.length > 0) return fresh;
      if (claimed.length === 0) over = true;
    }
    return [];
  }

  async function one({ documentId, characters, trace, takeOver }: FillWork): Promise<string | undefined> {
    try {
      const made = await takeOver();
      embedded += made;
      documents += 1;
      report({ type: 'settled', documentId, outcome: 'stored', embedded: made, characters });
      return undefined;
    } catch (thrown) {
      signal.throwIfAborted();
      const error = MillraceError.from(thrown);
      const policy = errorPolicy[error.code];
      if (policy.action === 'stop') throw error;
      refused.set(documentId, error);
      report({ type: 'failed', documentId, stage: trace.stage, error });
      return documentId;
    }
  }

  async function worker(): Promise<void> {
    while (!draining.aborted) {
      const claimed = await next();
      if (claimed.length === 0) return;
      for (const { documentId } of claimed) underWay.add(documentId);
      for (const group of groupsOf(claimed)) {
        const ids = group.map(({ documentId }) => documentId);
        const found = await patiently(() => works(ids));
        const results = await Promise.allSettled(found.map(one));
        for (const result of results) if (result.status === 'rejected') throw result.reason;
        const done = group.filter(({ documentId }) => !refused.has(documentId));
        await patiently(() => generations.settle(number, done, signal));
        for (const id of ids) underWay.delete(id);
        await tell();
        await slowDown();
      }
    }
  }

  async function slowDown(): Promise<void> {
    const ahead = rate === undefined ? 0 : (documents * 1_000) / rate - (clock.now() - began);
    if (ahead > 0) await clock.sleep(ahead, draining).catch(() => undefined);
  }

  async function tell(): Promise<void> {
    if (clock.now() - countedAt < countEveryMs) return;
    countedAt = clock.now();
    const behind = await patiently(() => generations.behind(number, signal));
    const left = behind.documents;
    report({ type: 'progress', share: documents / Math.max(1, documents + left) });
    if (clock.now() < tellAt || documents === 0) return;
    tellAt = clock.now() + tellEveryMs;
    const perSecond = (documents * 1_000) / (clock.now() - began);
    const etaMs = Math.round((left * 1_000) / perSecond);
    report({ type: 'filling', generation: number, documents, left, perSecond, etaMs });
  }

  await patiently(() => generations.enlist(number, signal));
  const workers = await Promise.allSettled(Array.from({ length: batches }, worker));
  for (const result of workers) if (result.status === 'rejected') throw result.reason;
  await patiently(() => checkThere(generations, number, signal));
  return { documents, embedded, refused };
}

/** Nothing is left to claim of a generation that somebody dropped: that is not the same as having taken over all. */
async function checkThere(generations: Generations, number: number, signal: AbortSignal): Promise<void> {
  if ((await generations.active(signal)) === number) return;
  const found = (await generations.others(signal)).find((one) => one.number === number);
  if (found !== undefined && found.state !== 'leaving') return;
  throw new MillraceError('generation_moved', `Generation ${number} was dropped while it was filled.`, {
    hint: 'Start again to fill a new one.',
  });
}

/** In their order, with so many chunks each that they can be held at once. */
function groupsOf(documents: readonly BehindDocument[]): BehindDocument[][] {
  const groups: BehindDocument[][] = [];
  let chunks = Infinity;
  for (const document of documents) {
    if (chunks + document.chunks > chunksAtOnce) {
      groups.push([]);
      chunks = 0;
    }
    groups.at(-1)!.push(document);
    chunks += document.chunks;
  }
  return groups;
}
