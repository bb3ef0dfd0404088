import type { Line, ReadLine } from './line.js';

export type BlockKind =
  'heading' | 'paragraph' | 'fence' | 'code' | 'table' | 'list' | 'quote' | 'html' | 'rule' | 'frontMatter';

/** A block at the top level of a Markdown text: whole lines, without the blank ones around them. */
export interface Block {
  readonly kind: BlockKind;
  readonly start: number;
  /** Where its last line ends, before the line end. */
  readonly end: number;
  /** Of a heading: 1 to 6; else 0. */
  readonly level: number;
  /** Of a heading: its text as it is written, without its marks; else empty. */
  readonly title: string;
}

/** Reads the block whose first line is `line`; undefined when the line begins no block of this kind. */
export type ReadBlock = (text: string, line: Line, readLine: ReadLine) => Block | undefined;

export function plainBlock(kind: Exclude<BlockKind, 'heading'>, start: number, end: number): Block {
  return { kind, start, end, level: 0, title: '' };
}
