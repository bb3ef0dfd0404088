const words =
  'mill wheel grain flour river stone sack bread miller valley bridge wagon field sower reaper barn oven baker market road'.split(
    ' ',
  );

/** Sentences in a paragraph each; the recursive chunker makes about one chunk of each. */
const mostSentences = 7;

/** Documents that never change: their scores tell which model answered. */
export const anchors: ReadonlyMap<string, string> = new Map(
  Array.from({ length: 12 }, (_, at) => [
    `anchor-${at}`,
    `A miller of the old school number ${at} grinds the ${words[at]} of the ${words[(at * 7 + 3) % words.length]}.`,
  ]),
);

/** What is near all of them. */
export const question = 'A miller of the old school grinds grain.';

/** What the source was told, newest last, and so what the store must hold in the end. */
export class Corpus {
  readonly expected = new Map<string, string>(anchors);
  readonly #random: () => number;
  readonly #alive: string[] = [];
  #born = 0;
  #revision = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** A new document. @returns the fields of its entry in the stream */
  add(): string[] {
    const id = `doc-${(this.#born += 1)}`;
    this.#alive.push(id);
    return this.#put(id);
  }

  /** An update, a deletion or a new document. */
  change(): string[] {
    const turn = this.#random();
    if (turn < 0.15 || this.#alive.length < 10) return this.add();
    const at = Math.floor(this.#random() * this.#alive.length);
    const id = this.#alive[at]!;
    if (turn >= 0.3) return this.#put(id);
    this.#alive[at] = this.#alive.at(-1)!;
    this.#alive.pop();
    this.expected.delete(id);
    return ['*', 'id', id, 'op', 'delete'];
  }

  #put(id: string): string[] {
    this.#revision += 1;
    const count = 1 + Math.floor(this.#random() * mostSentences);
    const paragraphs = Array.from({ length: count }, (_, at) => this.#sentence(id, at));
    const text = paragraphs.join('\n\n');
    this.expected.set(id, text);
    return ['*', 'id', id, 'text', text];
  }

  /** Half of them are what they were before an update. */
  #sentence(id: string, at: number): string {
    const seed = this.#random() < 0.5 ? at : this.#revision * 31 + at;
    const said = Array.from(
      { length: 14 },
      (_, place) => words[(seed * 5 + place * (3 + (seed % 7))) % words.length],
    );
    return `Of ${id}, part ${at} of edition ${seed}: ${said.join(' ')}.`;
  }
}
