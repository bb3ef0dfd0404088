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

/** Reads the line that starts at a position. The last two lines read are remembered: they are asked for again and again. */
export type ReadLine = (start: number) => Line;

export function lineReader(text: string): ReadLine {
  const feed = nextOf(text, '\n');
  const carriage = nextOf(text, '\r');
  let last: Line | undefined;
  let lastButOne: Line | undefined;

  function read(start: number): Line {
    const end = Math.min(feed(start), carriage(start));
    let first = start;
    let indent = 0;
    for (; first < end; first += 1) {
      const unit = text.charCodeAt(first);
      if (unit === 0x20) indent += 1;
      else if (unit === 0x09) indent += 4 - (indent % 4);
      else break;
    }
    return { start, end, next: lineAfter(text, end), indent, first };
  }

  return (start) => {
    if (last?.start === start) return last;
    if (lastButOne?.start === start) return lastButOne;
    lastButOne = last;
    return (last = read(start));
  };
}

/** Where the line after the one that ends at `end` begins; the text's length when there is none. */
export function lineAfter(text: string, end: number): number {
  const crlf = text.charCodeAt(end) === 0x0d && text.charCodeAt(end + 1) === 0x0a;
  return Math.min(end + (crlf ? 2 : 1), text.length);
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
