import type { GenerationView, SampleVector } from '../../contracts/generations.js';
import type { SearchHit } from '../../contracts/chunk-search.js';
import type { CanaryShare } from './canaries.js';

export interface Overlap {
  /** Documents whose neighbours were looked for in both generations. */
  readonly asked: number;
  /** Mean share of the neighbours that both name, 0 to 1; 1 where nothing was asked. */
  readonly share: number;
  /** The operator's own questions; empty where there are none, or they could not be asked. */
  readonly canaries: readonly CanaryShare[];
}

const samples = 50;
const neighbours = 10;

/**
 * How far two generations agree on what is near to what: for documents spread over all, the nearest documents of the first
 * chunk, by the vectors of each. Two good models share a good part, a broken one shares next to nothing.
 */
export async function neighbourOverlap(
  one: GenerationView,
  other: GenerationView,
  signal: AbortSignal,
): Promise<Omit<Overlap, 'canaries'>> {
  const mine = await one.vectors(samples, signal);
  const theirs = await other.vectors([...mine.keys()], signal);
  const shares: number[] = [];
  for (const [id, vector] of mine) {
    const same = theirs.get(id);
    if (same === undefined) continue;
    const [a, b] = await Promise.all([near(one, id, vector, signal), near(other, id, same, signal)]);
    const most = Math.min(a.size, b.size);
    if (most > 0) shares.push([...a].filter((document) => b.has(document)).length / most);
  }
  const share = shares.length === 0 ? 1 : shares.reduce((sum, each) => sum + each, 0) / shares.length;
  return { asked: shares.length, share };
}

/** What both have in common, by its weakest gate, 0 to 1. */
export function leastShare({ share, canaries }: Overlap): number {
  return canaries.length === 0 ? share : Math.min(share, meanShare(canaries));
}

/** For people: neighbours, then each question. */
export function overlapLine({ asked, share, canaries }: Overlap): string {
  const percent = (part: number) => `${Math.round(part * 100)} %`;
  const questions = canaries.map((one) => `; ${JSON.stringify(one.query)}: ${percent(one.share)}`);
  return `${percent(share)} of the neighbours of ${asked} documents${questions.join('')}`;
}

function meanShare(canaries: readonly CanaryShare[]): number {
  return canaries.reduce((sum, { share }) => sum + share, 0) / canaries.length;
}

/** Nearest documents beside the one itself. */
async function near(
  view: GenerationView,
  id: string,
  { space, vector }: SampleVector,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const hits: readonly SearchHit[] = await view.search.search({ space, vector, k: neighbours * 4 }, signal);
  for (const { documentId } of hits) if (documentId !== id && found.size < neighbours) found.add(documentId);
  return found;
}
