export interface QueueLimits {
  /** Texts that are waiting or under way at once. */
  readonly texts: number;
  /** Bytes of request bodies that are held at once. */
  readonly bytes: number;
}

/** Counts what a server holds, and says when that is enough. */
export class QueueBound {
  readonly #limits: QueueLimits;
  #texts = 0;
  #bytes = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get load(): QueueLimits {
    return { texts: this.#texts, bytes: this.#bytes };
  }

  /**
   * Takes room for so much; a load over the limit by itself is let in alone.
   * @returns gives the room back, once; undefined when there is none
   */
  enter({ texts = 0, bytes = 0 }: Partial<QueueLimits>): (() => void) | undefined {
    const full =
      (this.#texts > 0 && this.#texts + texts > this.#limits.texts) ||
      (this.#bytes > 0 && this.#bytes + bytes > this.#limits.bytes);
    if (full) return undefined;
    this.#texts += texts;
    this.#bytes += bytes;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#texts -= texts;
      this.#bytes -= bytes;
    };
  }
}
