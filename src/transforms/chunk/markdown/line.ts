/** One line of a text, as Markdown sees it. Positions are UTF-16 code units. */
export interface Line {
  readonly start: number;
  /** Where its characters end, before the line end. */
  readonly end: number;
  /** Where the next line starts: after LF, CR or CR LF. */
  readonly next: number;
  /** Columns of spaces and tabs before its first character. */
  readonly indent: number;
  /** Position of its first character; `end` when the line is blank. */
  readonly first: number;
}

/** Reads the line that starts at a position. Each line end is searched once, however often its line is read. */
export type ReadLine = (start: number) => Line;

export function lineReader(text: string): ReadLine {
  const feed = nextOf(text, '\n');
  const carriage = nextOf(text, '\r');
  return (start) => {
    const end = Math.min(feed(start), carriage(start));
    let first = start;
    let indent = 0;
    for (; first < end; first += 1) {
      const unit = text.charCodeAt(first);
      if (unit === 0x20) indent += 1;
      else if (unit === 0x09) indent += 4 - (indent % 4);
      else break;
    }
    const next = end + (text.charCodeAt(end) === 0x0d && text.charCodeAt(end + 1) === 0x0a ? 2 : 1);
    return { start, end, next: Math.min(next, text.length), indent, first };
  };
}

export function isBlankLine(line: Line): boolean {
  return line.first === line.end;
}

/** Finds the next `character` at or after a position (the text's length if none); remembers the last answer. */
function nextOf(text: string, character: string): (from: number) => number {
  let searchedFrom = 0;
  let found = -1;
  return (from) => {
    if (from < searchedFrom || from > found) {
      const at = text.indexOf(character, from);
      searchedFrom = from;
      found = at < 0 ? text.length : at;
    }
    return found;
  };
}
