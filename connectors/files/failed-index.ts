import type { FailedRecord } from '../../src/contracts/failed-store.js';
import type { Version } from '../../src/elements/version.js';
import type { FailedLine } from './failed-line.js';

/** Where the newest record of a document is, and what all its records say together: about 300 bytes a document. */
export interface FailedEntry {
  readonly pipeline: string;
  readonly documentId: string;
  readonly version: Version;
  /** Place of the line in the file, in bytes. */
  readonly start: number;
  readonly length: number;
  readonly attempts: number;
  readonly firstAt: string;
  readonly lastAt: string;
}

/** What the lines of one log file come to, read in their order. */
export class FailedIndex {
  readonly #entries = new Map<string, FailedEntry>();
  #bytes = 0;

  /** Bytes of the lines that still count. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @returns how many records the line removed */
  apply(line: FailedLine, start: number, length: number): number {
    switch (line.kind) {
      case 'failed':
        this.#put(line.record, start, length);
        return 0;
      case 'discarded':
        return line.keys.filter(({ documentId, version }) => {
          const entry = this.get(line.pipeline, documentId);
          return entry !== undefined && entry.version <= version && this.#remove(entry);
        }).length;
      case 'expired':
        return this.expired(line.pipeline, line.before).filter((entry) => this.#remove(entry)).length;
      case 'sealed':
        return 0;
      default:
        return line satisfies never;
    }
  }

  get(pipeline: string, documentId: string): FailedEntry | undefined {
    return this.#entries.get(keyOf(pipeline, documentId));
  }

  entries(): FailedEntry[] {
    return [...this.#entries.values()];
  }

  /** Those of a pipeline that last failed before this time. */
  expired(pipeline: string, before: string): FailedEntry[] {
    return this.entries().filter((entry) => entry.pipeline === pipeline && entry.lastAt < before);
  }

  #put(
    { pipeline, documentId, version, attempts, firstAt, lastAt }: FailedRecord,
    start: number,
    length: number,
  ): void {
    const before = this.get(pipeline, documentId);
    if (before !== undefined && before.version > version) return;
    const again = before?.version === version;
    this.#entries.set(keyOf(pipeline, documentId), {
      pipeline,
      documentId,
      version,
      start,
      length,
      attempts: again ? before.attempts + attempts : attempts,
      firstAt: again && before.firstAt < firstAt ? before.firstAt : firstAt,
      lastAt,
    });
    this.#bytes += length - (before?.length ?? 0);
  }

  #remove({ pipeline, documentId, length }: FailedEntry): boolean {
    this.#bytes -= length;
    return this.#entries.delete(keyOf(pipeline, documentId));
  }
}

function keyOf(pipeline: string, documentId: string): string {
  return JSON.stringify([pipeline, documentId]);
}
