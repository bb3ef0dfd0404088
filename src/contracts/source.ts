import type { Outcome } from '../elements/outcome.js';
import type { SourceElement } from '../elements/document.js';
import type { Json } from '../elements/metadata.js';
import type { Version } from '../elements/version.js';
import type { ConnectorContext } from './context.js';

export interface SourceContext {
  /** Stops reading: the iteration ends without a throw, at the next element at the latest. */
  readonly signal: AbortSignal;
  /** Go on after everything was read, and hand over changes as they come. */
  readonly watch: boolean;
  /**
   * While watching: hand over all that there is anew so often, in ms, unchanged or not: what it is enriched with may have
   * changed. Asked only of a source that `rereads`.
   */
  readonly rereadEveryMs?: number | undefined;
  /** An item over this many bytes is handed over as `unreadable` (`item_too_large`), never buffered whole. */
  readonly maxItemBytes: number;
  /** The operator's word that any share of the documents may vanish at once. */
  readonly allowMassDeletion: boolean;
  /**
   * Versions for a source that has none of its own: for each id the greater of now and the version after the newest that
   * the store knows. What is handed over under such a version must be what the source held **at the instant of this
   * call**: call it before or after reading, but make sure that nothing changed from before the one until after the
   * other. Only then does what was true earlier lose to what was true later, whichever was read or is written first.
   */
  observe(documentIds: readonly string[]): Promise<readonly Version[]>;
  /**
   * Now, for the beginning of a pass: above every version that `observe` gave to this process, and not above any that it
   * gives from here on.
   */
  passStart(): Promise<Version>;
  /** What the source remembers in the store, from run to run and for all processes that read it. */
  readonly state: SourceState;
  /** Says how far reading is behind, every few seconds and whenever it stops or goes on moving. */
  lag(lag: SourceLag): void;
}

/** How far the reading of a source is behind. What it cannot tell is absent. */
export interface SourceLag {
  /** Elements that wait: those nobody has read yet, and those read and not confirmed. */
  readonly entries?: number;
  /** Bytes that the source keeps until they are confirmed (write-ahead log of a slot). */
  readonly bytes?: number;
  /** Age of the oldest change that is not confirmed; 0 when all is. */
  readonly seconds?: number;
  /** Why reading stands still, for people; absent while it moves. */
  readonly stalled?: string;
}

/** What a comparison of source and store gives a source. */
export type AuditContext = Pick<SourceContext, 'signal' | 'maxItemBytes'>;

/** What a reading of a whole log gives a source. */
export type HistoryContext = AuditContext & Pick<SourceContext, 'state'>;

/** A small value of a source's own, kept beside the documents that came of it. */
export interface SourceState {
  read(): Promise<Json | undefined>;
  /** Replaces what is there if it still equals `expected`, by value. @returns whether it did */
  replace(expected: Json | undefined, value: Json): Promise<boolean>;
}

/** Where documents come from. */
export interface Source {
  /** Owner of the documents in the ledger: stable across restarts, unique within a store. */
  readonly name: string;
  /** It has no end of its own: it is read on and on unless a run is told to end once it has caught up. */
  readonly endless?: boolean;
  /** What it has handed over can be read again, as often as it is told to (`rereadEveryMs`). */
  readonly rereads?: boolean;
  /** Looks whether it can be read, for one whose reading leaves marks. Changes nothing. @returns what is there, for people */
  readonly probe?: () => Promise<string>;
  /**
   * Reads all that the source holds now, each document once, through the decoder of its deliveries and without leaving a
   * mark; versions do not count. Only endless sources that keep their present state have it (tables): one that ends is
   * read as a run would read it, and a stream that is trimmed has no whole to compare with.
   */
  readonly audit?: (context: AuditContext) => AsyncIterable<SourceElement>;
  /**
   * All that the source was ever given, in order and under its versions, leaving no mark: for a log that keeps it.
   * @throws MillraceError `source_gap` where some of it is gone, or nobody can tell
   */
  readonly history?: (context: HistoryContext) => AsyncIterable<SourceElement>;
  /**
   * Called once. Pulled only while there is room for more, so a source never buffers beyond one delivery. A throw stops
   * the run and settles nothing more. Resources are released when the iterator is returned.
   */
  deliveries(context: SourceContext): AsyncIterable<Delivery>;
}

export type Delivery = ElementsDelivery | PassComplete | Cleared | CaughtUp;

export interface ElementsDelivery {
  readonly kind: 'elements';
  /** At least one. An id may occur more than once: the last one counts. */
  readonly elements: readonly SourceElement[];
  /** Share of the source that is handed over once this delivery is, from 0 to 1; absent where nobody can tell. */
  readonly progress?: number;
  /**
   * Called once, when every element's outcome is durable, with one outcome an element in their order. Deliveries may
   * settle in any order. Never called for a delivery that a stop or a fault cut off: its elements must come again.
   */
  settle(outcomes: readonly Outcome[]): Promise<void>;
}

/** Everything in a scope has been named: documents of this source in it that this pass did not name are gone. */
export interface PassComplete {
  readonly kind: 'complete';
  readonly scope: PassScope;
}

/** A source that goes on says in the midst of its changes that documents in a scope are gone: those below `since`. */
export interface Cleared {
  readonly kind: 'cleared';
  readonly scope: PassScope;
  /** Somebody emptied it by a command of his own: however many vanish, it is plausible. */
  readonly commanded: boolean;
  /** Called once they are gone from the store. Never called where a stop or a fault came first. */
  settle(): Promise<void>;
}

/** A source without passes has handed over all there is for now. */
export interface CaughtUp {
  readonly kind: 'caught-up';
}

export interface PassScope {
  /** Document ids that begin with this; empty for all of the source. */
  readonly prefix: string;
  /** Ids that begin with one of these are left out of the scope. */
  readonly except: readonly string[];
  /** Every document named by this pass has a version of at least this. */
  readonly since: Version;
}

export type SourceFactory<Config> = (config: Config, context: ConnectorContext) => Promise<Source>;
