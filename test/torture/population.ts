/** Ids of documents that are there, of which any may be picked at once. */
export class Population {
  readonly #alive: string[] = [];
  readonly #placeOf = new Map<string, number>();
  #born = 0;

  /** Ever made. */
  get born(): number {
    return this.#born;
  }

  /** An id that was never there. */
  next(): string {
    this.#born += 1;
    return `doc-${this.#born}`;
  }

  add(id: string): void {
    if (this.#placeOf.has(id)) return;
    this.#placeOf.set(id, this.#alive.length);
    this.#alive.push(id);
  }

  remove(id: string): void {
    const place = this.#placeOf.get(id);
    if (place === undefined) return;
    this.#placeOf.delete(id);
    const last = this.#alive.pop()!;
    if (last === id) return;
    this.#alive[place] = last;
    this.#placeOf.set(last, place);
  }

  clear(): void {
    this.#alive.length = 0;
    this.#placeOf.clear();
  }

  /** @param chance from 0 to below 1 @returns undefined when none is there */
  pick(chance: number): string | undefined {
    return this.#alive[Math.floor(chance * this.#alive.length)];
  }
}
