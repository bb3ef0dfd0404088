export interface Sized {
  readonly size: number;
}

export interface BatchBudget {
  readonly padded?: boolean;
  readonly maxCost: number;
  readonly maxItems: number;
}

/** How far beyond a full batch the queue is looked through for items of similar size. */
const lookahead = 4;

/**
 * Takes a batch off the front of a queue. It always holds the oldest item; where padding counts, the rest are those
 * nearest to it in size, out of a window of a few batches.
 */
export function takeSimilar<Item extends Sized>(queue: Item[], budget: BatchBudget): Item[] {
  const oldest = queue[0]!;
  if (budget.padded !== true) return queue.splice(0, countInTurn(queue, budget));
  const window = queue.slice(0, budget.maxItems * lookahead).sort((a, b) => a.size - b.size);
  let from = window.indexOf(oldest);
  let to = from + 1;
  const fits = (count: number, greatest: number) =>
    count <= budget.maxItems && count * greatest <= budget.maxCost;
  for (;;) {
    const count = to - from + 1;
    const [shorter, longer] = [window[from - 1], window[to]];
    const longerIsNearer =
      longer !== undefined &&
      (shorter === undefined || longer.size - oldest.size <= oldest.size - shorter.size);
    if (longerIsNearer && fits(count, longer.size)) to += 1;
    else if (shorter !== undefined && fits(count, window[to - 1]!.size)) from -= 1;
    else break;
  }
  const taken = new Set(window.slice(from, to));
  let kept = 0;
  for (const item of queue) if (!taken.has(item)) queue[kept++] = item;
  queue.length = kept;
  return [...taken];
}

function countInTurn(queue: readonly Sized[], { maxCost, maxItems }: BatchBudget): number {
  let count = 1;
  for (let cost = queue[0]!.size; count < queue.length && count < maxItems; count += 1) {
    cost += queue[count]!.size;
    if (cost > maxCost) break;
  }
  return count;
}
