/** Runs tasks of one key in the order they came, tasks of different keys side by side. */
export class KeyedOrder {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Starts `task` once every earlier task of this key has ended, however it ended. */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const earlier = this.#last.get(key);
    const result = earlier === undefined ? task() : earlier.then(task, task);
    this.#last.set(key, result);
    const forget = () => {
      if (this.#last.get(key) === result) this.#last.delete(key);
    };
    result.then(forget, forget);
    return result;
  }
}
