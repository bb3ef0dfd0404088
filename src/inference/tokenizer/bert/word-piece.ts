/** The vocabulary of a WordPiece model. */
export interface WordPieceVocabulary {
  readonly ids: ReadonlyMap<string, number>;
  /** Put before a piece that goes on with a word: `##`. */
  readonly continuingPrefix: string;
}

export interface WordPiece {
  /**
   * Splits one normalized word, always taking the longest piece that the vocabulary has.
   * @param emit called for each piece with its id and its offsets in the word
   * @returns false, before anything was emitted, when the word is unknown as a whole
   */
  split(word: string, emit: (id: number, start: number, end: number) => void): boolean;
}

export function createWordPiece({ ids, continuingPrefix }: WordPieceVocabulary): WordPiece {
  const continuing = new Map<string, number>();
  let longest = 1;
  for (const [piece, id] of ids) {
    if (piece.length > longest) longest = piece.length;
    if (piece.startsWith(continuingPrefix)) continuing.set(piece.slice(continuingPrefix.length), id);
  }

  return {
    split(word, emit) {
      const found: number[] = [];
      for (let start = 0; start < word.length;) {
        const pieces = start === 0 ? ids : continuing;
        let end = Math.min(word.length, start + longest);
        let id = pieces.get(word.slice(start, end));
        while (id === undefined) {
          if (--end === start) return false;
          id = pieces.get(word.slice(start, end));
        }
        found.push(id, start, end);
        start = end;
      }
      for (let at = 0; at < found.length; at += 3) emit(found[at]!, found[at + 1]!, found[at + 2]!);
      return true;
    },
  };
}
