import { breakWorth } from '../best-break.js';
import { textBreak } from '../text-break.js';
import type { Block } from './block.js';

/**
 * What it is worth to end a passage before a block, on the scale of `breakWorth`. A heading outweighs every break that
 * is not before a heading, however full the passage; a higher heading outweighs a lower one that is up to a fifth of the passage further on.
 */
export function blockWorth(next: Block): number {
  if (next.kind === 'heading') return 2.6 - 0.2 * next.level;
  if (next.kind === 'rule') return breakWorth[textBreak.blankLine] + 0.1;
  return breakWorth[textBreak.blankLine];
}
