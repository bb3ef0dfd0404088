export interface AdmissionLimits {
  /** Elements that may be under way at once, from 1. */
  readonly elements: number;
  /** Bytes of text that may be under way at once, from 1. */
  readonly bytes: number;
}

export interface Load {
  readonly elements: number;
  readonly bytes: number;
}

/** Keeps what is under way within bounds. A load over the bound by itself is admitted alone. One caller waits at a time. */
export class Admission {
  readonly #limits: AdmissionLimits;
  #elements = 0;
  #bytes = 0;
  readonly #holders = new Set<string>();
  #wake: (() => void) | undefined;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  get underWay(): Load {
    return { elements: this.#elements, bytes: this.#bytes };
  }

  /** Resolves once there is room, and takes it. Rejects with the signal's reason while it waits. */
  async admit(load: Load, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!this.#hasRoom(load)) await this.#roomMade(signal);
    this.#elements += load.elements;
    this.#bytes += load.bytes;
  }

  release(load: Load): void {
    this.#elements -= load.elements;
    this.#bytes -= load.bytes;
    this.#wake?.();
  }

  /** Lets nothing more in until every holder has let go. */
  hold(holder: string): void {
    this.#holders.add(holder);
  }

  letGo(holder: string): void {
    this.#holders.delete(holder);
    this.#wake?.();
  }

  #hasRoom(load: Load): boolean {
    if (this.#holders.size > 0) return false;
    if (this.#elements === 0) return true;
    return (
      this.#elements + load.elements <= this.#limits.elements &&
      this.#bytes + load.bytes <= this.#limits.bytes
    );
  }

  async #roomMade(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const abort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      this.#wake = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
    });
  }
}
