export interface Sized {
  /** In the unit of a batch's cost: tokens, bytes, rows. */
  readonly size: number;
}

export interface BatchLimit {
  /** Cost of a batch at most. An item over it goes alone. */
  readonly cost: number;
  readonly items: number;
}

/** Items that wait to go into a batch. */
export interface BatchQueue<Item extends Sized> {
  readonly length: number;
  /** Of all that waits. */
  readonly size: number;
  add(item: Item): void;
  /** Takes the next batch: never empty while anything waits, and never without one of those that came first. */
  take(limit: BatchLimit): Item[];
  /** What a batch of these items costs. */
  costOf(batch: readonly Item[]): number;
}
