import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../src/contracts/context.js';
import type { Delivery, SourceContext, SourceState } from '../../src/contracts/source.js';
import type { Json } from '../../src/elements/metadata.js';
import type { Outcome } from '../../src/elements/outcome.js';
import type { SourceElement } from '../../src/elements/document.js';
import { contentHash } from '../../src/elements/hash.js';
import { laterVersion, type Version } from '../../src/elements/version.js';
import { createObservation } from '../../src/runtime/observation.js';

interface Row {
  version: Version;
  state: 'stored' | 'deleted' | 'failed';
  hash: string | undefined;
  text: string | undefined;
}

/** What a store and a run do with deliveries, in a map: the fence, the versions of a state source, and the sweep. */
export class LedgerDouble {
  readonly rows = new Map<string, Row>();
  readonly state = memoryState();
  /** Of the last whole pass: what it did not name and nobody knows is gone below this. */
  #floor: Version | undefined;

  /** @param clock the time of the process that reads, which may be wrong */
  context(clock: Pick<Clock, 'now'>, parts: Partial<SourceContext> = {}): SourceContext {
    // A failed version takes the place of the newest.
    const ledger = async (id: string) => {
      const version = this.rows.get(id)?.version;
      return version && { version, failedVersion: undefined };
    };
    return {
      signal: new AbortController().signal,
      watch: false,
      maxItemBytes: 32 << 20,
      allowMassDeletion: false,
      ...createObservation({ ledger }, clock),
      state: this.state,
      lag: () => undefined,
      ...parts,
    };
  }

  /** Applies a delivery and settles it. @returns one outcome an element, or the ids that a pass swept */
  async apply(delivery: Delivery): Promise<readonly (Outcome | string)[]> {
    if (delivery.kind === 'caught-up') return [];
    if (delivery.kind === 'complete' || delivery.kind === 'cleared') {
      const { prefix, except, since } = delivery.scope;
      if (prefix === '') this.#floor = laterVersion(this.#floor, since);
      const swept = [...this.rows].filter(
        ([id, { version, state }]) =>
          state !== 'deleted' &&
          id.startsWith(prefix) &&
          !except.some((spared) => id.startsWith(spared)) &&
          version < since,
      );
      for (const [id] of swept)
        this.rows.set(id, { version: since, state: 'deleted', hash: undefined, text: undefined });
      if (delivery.kind === 'cleared') await delivery.settle();
      return swept.map(([id]) => id);
    }
    const outcomes = delivery.elements.map((element) => this.#write(element));
    await delivery.settle(outcomes);
    return outcomes;
  }

  /** The texts that a reader of the store would see. */
  texts(): Record<string, string> {
    const stored = [...this.rows].filter(([, { text }]) => text !== undefined);
    return Object.fromEntries(stored.map(([id, { text }]) => [id, text!]).sort());
  }

  #write(element: SourceElement): Outcome {
    const { id, version } = element;
    const held = this.rows.get(id);
    const hash = element.kind === 'document' ? contentHash(element) : undefined;
    if (held === undefined && this.#floor !== undefined && version < this.#floor) return { kind: 'stale' };
    if (held !== undefined && (version < held.version || (version === held.version && hash === held.hash)))
      return { kind: 'stale' };
    switch (element.kind) {
      case 'document':
        this.rows.set(id, { version, state: 'stored', hash, text: element.text });
        return held?.hash === hash ? { kind: 'unchanged' } : { kind: 'stored', chunks: 1, embedded: 1 };
      case 'deletion':
        this.rows.set(id, { version, state: 'deleted', hash: undefined, text: undefined });
        return { kind: 'deleted' };
      case 'unreadable':
        // The last good content stays.
        this.rows.set(id, { version, state: 'failed', hash: held?.hash, text: held?.text });
        return { kind: 'failed', error: element.error };
      default:
        return element satisfies never;
    }
  }
}

function memoryState(): SourceState {
  let held: Json | undefined;
  return {
    read: () => Promise.resolve(held),
    replace: (expected, value) => {
      if (!isDeepStrictEqual(held, expected)) return Promise.resolve(false);
      held = value;
      return Promise.resolve(true);
    },
  };
}
