import type { SourceElement } from '../../../src/elements/document.js';
import { versionsAt, type Version } from '../../../src/elements/version.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import type { ChangeStream } from './change-stream.js';
import { isComplete, KnownRows } from './known-rows.js';
import { printLsn, type Lsn } from './lsn.js';
import type { BeginEvent, RowEvent, StreamEvent } from './pgoutput.js';
import type { Incomplete } from './fill-absent.js';
import type { Relation } from './relation.js';
import { idOf, rowElement } from './row-element.js';
import type { RowPlan } from './row-plan.js';

/** What is handed over next. */
export type Assembled =
  | {
      readonly kind: 'elements';
      readonly elements: readonly SourceElement[];
      /** Commit time of the oldest, ms since 1970. */
      readonly committedAt: number;
      /** The last end of a transaction in it. */
      readonly passed: Lsn | undefined;
    }
  | {
      readonly kind: 'truncate';
      readonly plans: readonly RowPlan[];
      readonly since: Version;
      readonly committedAt: number;
    };

export interface AssemblyOptions {
  readonly stream: ChangeStream;
  readonly epoch: number;
  /** Rows handed over at once at most. */
  readonly rows: number;
  readonly maxItemBytes: number;
  /** A relation, ours or another, is described for the first time or anew. */
  meet(relation: Relation): Promise<void>;
  /** How its rows become documents; undefined: it is not one of ours. @throws MillraceError `source_changed` */
  plan(relation: Relation, when: string): Promise<RowPlan | undefined>;
  /** Fetches what the stream left out. */
  fill(rows: readonly Incomplete[]): Promise<void>;
  /** Everything up to here was taken, and no transaction is in the middle. */
  passed(lsn: Lsn): void;
}

/** A class: the engine gives each copy of an object by `...` a shape of its own, and keeps those for long. */
class Transaction {
  readonly commitLsn: Lsn;
  readonly committedAt: number;
  readonly xid: number;
  readonly known = new KnownRows();
  readonly #versionAt: (index: number) => Version;
  /** Of the last change in it, from 1. */
  #index = 0;

  constructor({ commitLsn, committedAt, xid }: BeginEvent, epoch: number) {
    this.commitLsn = commitLsn;
    this.committedAt = committedAt;
    this.xid = xid;
    this.#versionAt = versionsAt(epoch, commitLsn);
  }

  /** Of the next change in it. */
  nextVersion(): Version {
    this.#index += 1;
    return this.#versionAt(this.#index);
  }
}

interface Pending {
  readonly plan: RowPlan;
  readonly version: Version;
  readonly row: Incomplete;
}

interface Batch {
  readonly items: (SourceElement | Pending)[];
  readonly incomplete: Incomplete[];
  bytes: number;
  committedAt: number | undefined;
  passed: Lsn | undefined;
}

function emptyBatch(): Batch {
  return { items: [], incomplete: [], bytes: 0, committedAt: undefined, passed: undefined };
}

const bytesAtOnce = 4 << 20;
/** Rows that are incomplete: how large they are shows only once they are fetched. */
const incompleteAtOnce = 32;

/** Makes of the stream's events what is handed over, in their order. */
export class Assembly {
  readonly #options: AssemblyOptions;
  /** By the id of the relation, for the last shape that was used. */
  readonly #plans = new Map<number, { readonly relation: Relation; readonly plan: RowPlan | undefined }>();
  #transaction: Transaction | undefined;
  #batch = emptyBatch();
  /** An event that did not fit. */
  #put: StreamEvent | undefined;

  constructor(options: AssemblyOptions) {
    this.#options = options;
  }

  /** undefined while there is nothing to hand over. A transaction is only divided when it is too large for one delivery. */
  async next(): Promise<Assembled | undefined> {
    const { stream, rows } = this.#options;
    const { items, incomplete } = this.#batch;
    let full = false;
    while (!full) {
      const event = this.#put ?? stream.take();
      this.#put = undefined;
      if (event === undefined) break;
      switch (event.kind) {
        case 'begin':
          this.#transaction = new Transaction(event, this.#options.epoch);
          break;
        case 'commit':
          this.#transaction = undefined;
          this.#pass(event.endLsn);
          break;
        case 'position':
          if (this.#transaction === undefined) this.#pass(event.lsn);
          break;
        case 'relation':
          await this.#options.meet(event.relation);
          break;
        case 'row':
          // What came before is handed over first: the plan may be an error.
          full = items.length > 0 && this.#plans.get(event.relation.id)?.relation !== event.relation;
          if (full) this.#put = event;
          else {
            const held = this.#plans.get(event.relation.id);
            // Nearly always: a promise for each row would cost more than the row.
            const plan = held?.relation === event.relation ? held.plan : await this.#plan(event.relation);
            if (plan !== undefined) this.#take(event, plan, this.#current());
          }
          break;
        case 'truncate':
          full = items.length > 0;
          if (full) this.#put = event;
          else return this.#truncate(event.relations, this.#current());
          break;
        default:
          return event satisfies never;
      }
      full ||=
        items.length >= rows || incomplete.length >= incompleteAtOnce || this.#batch.bytes >= bytesAtOnce;
    }
    // The rest of the transaction is on its way: the server sends it whole.
    if (items.length === 0 || (!full && this.#transaction !== undefined)) return undefined;
    return this.#handOver();
  }

  async #handOver(): Promise<Assembled | undefined> {
    const { items, incomplete, committedAt, passed } = this.#batch;
    this.#batch = emptyBatch();
    if (incomplete.length > 0) await this.#options.fill(incomplete);
    const elements =
      incomplete.length === 0 ? (items as SourceElement[]) : items.flatMap((item) => this.#completed(item));
    if (elements.length > 0) return { kind: 'elements', elements, committedAt: committedAt!, passed };
    if (passed !== undefined) this.#options.passed(passed);
    return this.next();
  }

  #completed(item: SourceElement | Pending): SourceElement[] {
    if (!('row' in item)) return [item];
    if (item.row.gone) return [];
    return [rowElement(item.plan, item.row.tuple, item.version, this.#options.maxItemBytes)];
  }

  /** Everything up to here was taken, and no transaction is in the middle. */
  #pass(lsn: Lsn): void {
    const batch = this.#batch;
    if (batch.items.length === 0) this.#options.passed(lsn);
    else if (batch.passed === undefined || batch.passed < lsn) batch.passed = lsn;
  }

  #take({ op, old, row }: RowEvent, plan: RowPlan, transaction: Transaction): void {
    const batch = this.#batch;
    const { known } = transaction;
    batch.committedAt ??= transaction.committedAt;
    const oldId = old === undefined ? undefined : idOf(plan, old.values);
    if (op === 'delete') {
      batch.items.push({ kind: 'deletion', id: oldId!, version: transaction.nextVersion() });
      known.forget(plan, oldId!);
      return;
    }
    const tuple = row!;
    const id = idOf(plan, tuple.values);
    known.complete(plan, oldId ?? id, tuple, old);
    if (oldId !== undefined && oldId !== id) {
      batch.items.push({ kind: 'deletion', id: oldId, version: transaction.nextVersion() });
      known.forget(plan, oldId);
    }
    known.keep(plan, id, tuple);
    batch.bytes += tuple.bytes;
    const version = transaction.nextVersion();
    if (isComplete(plan, tuple)) {
      batch.items.push(rowElement(plan, tuple, version, this.#options.maxItemBytes));
      return;
    }
    const incomplete: Incomplete = { plan, tuple, xid: transaction.xid, gone: false };
    batch.incomplete.push(incomplete);
    batch.items.push({ plan, version, row: incomplete });
  }

  async #truncate(relations: readonly Relation[], transaction: Transaction): Promise<Assembled> {
    const plans = await Promise.all(relations.map((relation) => this.#plan(relation)));
    transaction.known.clear();
    return {
      kind: 'truncate',
      plans: plans.filter((plan) => plan !== undefined),
      since: transaction.nextVersion(),
      committedAt: transaction.committedAt,
    };
  }

  async #plan(relation: Relation): Promise<RowPlan | undefined> {
    const held = this.#plans.get(relation.id);
    if (held?.relation === relation) return held.plan;
    const plan = await this.#options.plan(relation, `as of LSN ${printLsn(this.#current().commitLsn)}`);
    this.#plans.set(relation.id, { relation, plan });
    return plan;
  }

  #current(): Transaction {
    if (this.#transaction === undefined)
      throw new MillraceError('internal', 'The stream has a change outside a transaction.');
    return this.#transaction;
  }
}
