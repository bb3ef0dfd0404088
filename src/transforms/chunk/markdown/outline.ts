import { scanBlocks } from './scan-blocks.js';
import type { Block } from './block.js';

/** The blocks of a Markdown text and the headings that hold them. Blocks are named by their index. */
export interface Outline {
  readonly blocks: readonly Block[];
  /** The last block that starts at or before a position; -1 before the first. */
  blockAt(position: number): number;
  /** The heading that a block belongs to (a heading belongs to itself); -1 before the first heading. */
  headingOf(block: number): number;
  /** Titles of the headings that hold a block, outermost first; empty ones are left out. */
  path(heading: number): string[];
  /** The heading that holds a heading; -1 at the top. */
  parent(heading: number): number;
}

export function outlineOf(text: string): Outline {
  const blocks = scanBlocks(text);
  const heading = new Int32Array(blocks.length);
  const parents = new Int32Array(blocks.length);
  const open: number[] = [];
  for (let index = 0; index < blocks.length; index += 1) {
    const { kind, level } = blocks[index]!;
    if (kind === 'heading') {
      while (open.length > 0 && blocks[open[open.length - 1]!]!.level >= level) open.pop();
      parents[index] = open[open.length - 1] ?? -1;
      open.push(index);
    }
    heading[index] = open[open.length - 1] ?? -1;
  }
  const parent = (index: number) => parents[index] ?? -1;
  return {
    blocks,
    blockAt(position) {
      let low = 0;
      let high = blocks.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (blocks[middle]!.start <= position) low = middle + 1;
        else high = middle;
      }
      return low - 1;
    },
    headingOf: (block) => heading[block] ?? -1,
    path(index) {
      const titles: string[] = [];
      for (let at = index; at >= 0; at = parent(at)) {
        if (blocks[at]!.title !== '') titles.push(blocks[at]!.title);
      }
      return titles.reverse();
    },
    parent,
  };
}
