/** Things that several services of one thread share: a tokenizer with its word cache, for one. */
export interface Resources {
  /**
   * The one instance under this key in this thread; `make` runs once, at its first use. It is forgotten when the last
   * service that asked for it is gone, or at once when `make` fails.
   */
  share<Value>(key: string, make: () => Value | Promise<Value>): Promise<Value>;
}

/** The share of one service: `release` gives back all that it asked for. */
export interface ResourceLease extends Resources {
  release(): void;
}

export interface ResourceTable {
  lease(): ResourceLease;
}

interface Entry {
  readonly value: Promise<unknown>;
  users: number;
}

/** The resources of one thread. */
export function createResourceTable(): ResourceTable {
  const entries = new Map<string, Entry>();
  return {
    lease() {
      const held = new Map<string, Entry>();
      return {
        async share<Value>(key: string, make: () => Value | Promise<Value>) {
          let entry = entries.get(key);
          if (entry === undefined) {
            entry = { value: (async () => make())(), users: 0 };
            entries.set(key, entry);
          }
          if (held.get(key) !== entry) {
            held.set(key, entry);
            entry.users += 1;
          }
          try {
            return (await entry.value) as Value;
          } catch (error) {
            if (entries.get(key) === entry) entries.delete(key);
            held.delete(key);
            throw error;
          }
        },
        release() {
          for (const [key, entry] of held) {
            entry.users -= 1;
            if (entry.users === 0 && entries.get(key) === entry) entries.delete(key);
          }
          held.clear();
        },
      };
    },
  };
}
