import { randomUUID } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import type { FailedKey, FailedRecord } from '../../src/contracts/failed-store.js';
import { FailedIndex, type FailedEntry } from './failed-index.js';
import {
  generationFile,
  highestGeneration,
  openGeneration,
  succeedGeneration,
} from './failed-generations.js';
import { decodeFailedLine, encodeFailedLine, type FailedLine } from './failed-line.js';
import { systemCode } from './file-errors.js';
import { readLines } from './read-lines.js';

/** One file of the log, and what has been read of it. */
interface Generation {
  readonly number: number;
  readonly handle: FileHandle;
  readonly index: FailedIndex;
  /** Everything before this place has been read. */
  offset: number;
  /** A seal has been read: what stands after it does not count. */
  sealed: boolean;
}

/** A new file is begun when the old one is over this many bytes and less than half of it counts. */
const worthCompacting = 1 << 20;
const maxLineBytes = 2 ** 29;

/**
 * A log of failed elements that any number of processes of one machine append to and read at once.
 *
 * Every append is one write to a file opened for appending, so all processes see all lines in one order, and the state is
 * what the lines in that order say. Whoever appends reads the log up to its own line: only then does it know what the line
 * did. To drop lines that no longer count, a seal is appended and the next file begun with what stood before the seal; a
 * writer that finds a seal before its line appends it again there. A write that was cut off by a kill cannot spoil the one
 * after it, since each begins with a newline.
 */
export class FailedLog {
  readonly #folder: string;
  readonly #damaged: () => void;
  #current: Generation | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param damaged is called when a line cannot be read */
  constructor(folder: string, damaged: () => void) {
    this.#folder = folder;
    this.#damaged = damaged;
  }

  /** Appends these records, all or none. Durable when it resolves. */
  async put(records: readonly FailedRecord[]): Promise<void> {
    const lines = records.map((record) => ({ kind: 'failed', token: randomUUID(), record }) as const);
    await this.#inTurn(() => this.#appendAndCompact(lines));
  }

  /** Durable when it resolves. @returns how many records were removed */
  discard(pipeline: string, keys: readonly FailedKey[]): Promise<number> {
    return this.#inTurn(async () => {
      const at = await this.#refresh();
      const held = keys.filter(({ documentId, version }) => {
        const entry = at?.index.get(pipeline, documentId);
        return entry !== undefined && entry.version <= version;
      });
      if (held.length === 0) return 0;
      return this.#appendAndCompact([{ kind: 'discarded', token: randomUUID(), pipeline, keys: held }]);
    });
  }

  /** Removes records that last failed before this time. Durable when it resolves. @returns how many were removed */
  expire(pipeline: string, before: string): Promise<number> {
    return this.#inTurn(async () => {
      const at = await this.#refresh();
      if (at === undefined || at.index.expired(pipeline, before).length === 0) return 0;
      return this.#appendAndCompact([{ kind: 'expired', token: randomUUID(), pipeline, before }]);
    });
  }

  /** The entries as they are now, for the caller to close; nothing when there is no log. */
  snapshot(): Promise<FailedSnapshot | undefined> {
    return this.#inTurn(async () => {
      for (;;) {
        const at = await this.#refresh();
        if (at === undefined) return undefined;
        const handle = await openOrGone(generationFile(this.#folder, at.number));
        if (handle === undefined) continue;
        return {
          entries: () => at.index.entries(),
          get: (pipeline, documentId) => at.index.get(pipeline, documentId),
          read: (entry) => readEntry(handle, entry),
          close: () => handle.close(),
        };
      }
    });
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#leave());
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #appendAndCompact(lines: readonly FailedLine[]): Promise<number> {
    const removed = await this.#append(lines);
    const { offset, index } = this.#current!;
    if (offset > worthCompacting && index.bytes * 2 < offset) await this.#compact();
    return removed;
  }

  /** @returns how many records the lines removed */
  async #append(lines: readonly FailedLine[]): Promise<number> {
    const token = lines.at(-1)!.token;
    const bytes = Buffer.from(`\n${lines.map(encodeFailedLine).join('')}`);
    for (;;) {
      const at = (await this.#refresh()) ?? (await this.#create());
      if (at.sealed) {
        await this.#succeed(at);
        continue;
      }
      const { bytesWritten } = await at.handle.write(bytes);
      if (bytesWritten < bytes.length)
        throw new Error(`Only ${bytesWritten} of ${bytes.length} bytes could be written.`);
      await at.handle.datasync();
      const removed = await this.#read(at, token);
      if (removed === undefined && at.sealed) continue;
      if (removed === undefined) throw new Error('A line that was written cannot be read back.');
      if (at.sealed || (await this.#isCurrent(at))) return removed;
    }
  }

  /** Somebody may have removed the file by hand, or it is a lower generation that a process held up brought back. */
  async #isCurrent(at: Generation): Promise<boolean> {
    const { nlink } = await at.handle.stat();
    return nlink > 0 && (await highestGeneration(this.#folder)) === at.number;
  }

  async #compact(): Promise<void> {
    const token = randomUUID();
    await this.#append([{ kind: 'sealed', token }]);
    if (this.#current!.sealed) await this.#succeed(this.#current!);
  }

  async #succeed(at: Generation): Promise<void> {
    await succeedGeneration(this.#folder, at.number, randomUUID(), async (handle) => {
      for (const entry of at.index.entries()) {
        const record = await readEntry(at.handle, entry);
        if (record !== undefined)
          await handle.appendFile(encodeFailedLine({ kind: 'failed', token: randomUUID(), record }));
      }
    });
    await this.#leave();
  }

  async #create(): Promise<Generation> {
    const handle = await openGeneration(this.#folder, 1, true);
    return this.#enter(1, handle!);
  }

  /** Goes to the highest generation and reads what is new there; nothing when there is no log yet. */
  async #refresh(): Promise<Generation | undefined> {
    for (;;) {
      const highest = await highestGeneration(this.#folder);
      if (this.#current !== undefined && this.#current.number === highest) {
        const { nlink } = await this.#current.handle.stat();
        if (nlink > 0) {
          await this.#read(this.#current);
          return this.#current;
        }
      }
      await this.#leave();
      if (highest === 0) return undefined;
      const handle = await openGeneration(this.#folder, highest, false);
      if (handle === undefined) continue;
      await this.#enter(highest, handle);
    }
  }

  async #enter(number: number, handle: FileHandle): Promise<Generation> {
    const stats = await handle.stat();
    if (!stats.isFile()) {
      await handle.close();
      throw new Error(`${generationFile(this.#folder, number)} is not a regular file.`);
    }
    this.#current = { number, handle, index: new FailedIndex(), offset: 0, sealed: false };
    return this.#current;
  }

  async #leave(): Promise<void> {
    const { handle } = this.#current ?? {};
    this.#current = undefined;
    await handle?.close();
  }

  /** @returns how many records the lines with this token removed; nothing when none of them counts */
  async #read(at: Generation, token?: string): Promise<number | undefined> {
    let removed: number | undefined;
    for await (const lines of readLines(at.handle, { maxBytes: maxLineBytes, from: at.offset }))
      for (const { bytes, start, end, terminated } of lines) {
        // Without its newline it may still be under way.
        if (!terminated) continue;
        at.offset = end;
        if (at.sealed || bytes?.length === 0) continue;
        const line = bytes === undefined ? undefined : decodeFailedLine(bytes);
        if (line === undefined) {
          this.#damaged();
          continue;
        }
        const count = at.index.apply(line, start, end - start);
        if (line.token === token) removed = (removed ?? 0) + count;
        if (line.kind === 'sealed') at.sealed = true;
      }
    return removed;
  }
}

export interface FailedSnapshot {
  entries(): readonly FailedEntry[];
  get(pipeline: string, documentId: string): FailedEntry | undefined;
  /** The record of an entry, with what its earlier lines add. */
  read(entry: FailedEntry): Promise<FailedRecord | undefined>;
  close(): Promise<void>;
}

async function openOrGone(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function readEntry(
  handle: FileHandle,
  { start, length, attempts, firstAt }: FailedEntry,
): Promise<FailedRecord | undefined> {
  const bytes = Buffer.allocUnsafe(length);
  const { bytesRead } = await handle.read(bytes, 0, length, start);
  const line = decodeFailedLine(bytes.subarray(0, bytesRead));
  return line?.kind === 'failed' ? { ...line.record, attempts, firstAt } : undefined;
}
