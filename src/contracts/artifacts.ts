import type { Json } from '../elements/metadata.js';

/** What a filled store must remember of how it was filled, by name. */
export interface Artifacts {
  read(name: string): Promise<Json | undefined>;
  /** Inserts unless the name is taken. @returns what the store holds now: this value, or the earlier one */
  insert(name: string, value: Json): Promise<Json>;
  /** Replaces a value if it still equals `expected`, by value; inserts where nothing is expected. @returns whether it did */
  replace(name: string, expected: Json | undefined, value: Json): Promise<boolean>;
}
