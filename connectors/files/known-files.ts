import type { Look, Stamp } from './stamp.js';

interface Known {
  /** How the file was when it was handed over; absent when it must be read again whatever its stamp. */
  stamp: Stamp | undefined;
  /** It was handed over as a failure of the whole file. */
  failed: boolean;
  /** Number of the look around at which it was last there. */
  seenAt: number;
}

/** A stamp that was seen, but is not read yet since the file may still be written. */
interface Unsettled {
  readonly stamp: Stamp;
  readonly looks: number;
  readonly seenAt: number;
}

/** A file that is changed without end is read all the same after so many looks. */
const patience = 10;

/**
 * What a watching source remembers: about 400 bytes a file. A changed file is due for reading once two looks in a row saw
 * the same, a missing one is vanished once two looks in a row missed it: many programs save a file by several steps.
 */
export class KnownFiles {
  readonly #files = new Map<string, Known>();
  readonly #unsettled = new Map<string, Unsettled>();
  readonly #retried = new Map<string, Stamp>();
  #looks = 0;

  get size(): number {
    return this.#files.size;
  }

  handedOver(path: string, look: Look | undefined, state: 'read' | 'failed'): void {
    this.#files.set(path, { stamp: look?.stamp, failed: state === 'failed', seenAt: this.#looks });
  }

  /** The store had something newer than what was read: read once more, since the file holds what counts. */
  stale(path: string): void {
    const known = this.#files.get(path);
    if (known?.stamp === undefined || this.#retried.get(path) === known.stamp) return;
    this.#retried.set(path, known.stamp);
    known.stamp = undefined;
  }

  /** Every file is due for reading, changed or not. */
  readAnew(): void {
    for (const known of this.#files.values()) known.stamp = undefined;
  }

  hasFailed(path: string): boolean {
    return this.#files.get(path)?.failed ?? false;
  }

  beginLook(): void {
    this.#looks += 1;
  }

  /** @returns whether the file is due for reading */
  see(path: string, stamp: Stamp): boolean {
    const known = this.#files.get(path);
    if (known !== undefined) known.seenAt = this.#looks;
    if (known?.stamp === stamp) {
      this.#unsettled.delete(path);
      return false;
    }
    const before = this.#unsettled.get(path);
    const looks = (before?.looks ?? 0) + 1;
    const due = before?.stamp === stamp || looks >= patience;
    if (due) this.#unsettled.delete(path);
    else this.#unsettled.set(path, { stamp, looks, seenAt: this.#looks });
    return due;
  }

  /** Files that this look and the one before missed, unless a prefix spares them. Forgets what waited and is gone. */
  vanished(spared: Iterable<string>): string[] {
    for (const [path, { seenAt }] of this.#unsettled)
      if (seenAt !== this.#looks) this.#unsettled.delete(path);
    const prefixes = [...spared];
    const vanished: string[] = [];
    for (const [path, known] of this.#files) {
      if (known.seenAt === this.#looks) continue;
      if (prefixes.some((prefix) => path.startsWith(prefix))) known.seenAt = this.#looks;
      else if (known.seenAt < this.#looks - 1) vanished.push(path);
    }
    return vanished;
  }

  forget(path: string): void {
    this.#files.delete(path);
    this.#unsettled.delete(path);
    this.#retried.delete(path);
  }
}
