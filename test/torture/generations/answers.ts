import type { Hit } from '../../../src/index.js';
import { anchors } from './corpus.js';

/** The scores of an answer, by document. */
export type Scores = ReadonlyMap<string, number>;

/** Of the documents that never change the score of the best chunk, as far as an answer, the best first, names them. */
export function anchorScores(hits: readonly Pick<Hit, 'documentId' | 'score'>[]): Scores {
  const scores = new Map<string, number>();
  for (const { documentId, score } of hits)
    if (anchors.has(documentId) && !scores.has(documentId)) scores.set(documentId, score);
  return scores;
}

const tolerance = 1e-5;
/** Other documents may be nearer than some that never change. */
const leastKnown = 6;

function isOf(scores: Scores, generation: Scores): boolean {
  return [...scores].every(([id, score]) => {
    const own = generation.get(id);
    return own !== undefined && Math.abs(own - score) < tolerance;
  });
}

/**
 * Judges the answers that one reader got, in their order: each must be of the old generation as a whole or of the new one,
 * and none of the old one after one of the new.
 */
export function judgeAnswers(answers: readonly Scores[], old: Scores, now: Scores): string[] {
  const faults: string[] = [];
  const known = [...anchors.keys()].filter((id) => old.has(id) && now.has(id));
  if (known.length < leastKnown) faults.push(`only ${known.length} documents tell the generations apart`);
  for (const id of known)
    if (Math.abs(old.get(id)! - now.get(id)!) < 10 * tolerance)
      faults.push(`${id} has the score ${old.get(id)} in both generations`);
  let switched = false;
  for (const [at, all] of answers.entries()) {
    const scores = new Map([...all].filter(([id]) => known.includes(id)));
    const [before, after] = [isOf(scores, old), isOf(scores, now)];
    if (scores.size === 0) faults.push(`answer ${at} names none of the documents that never change`);
    else if (before === after)
      faults.push(`answer ${at} is of no one generation: ${JSON.stringify([...scores])}`);
    else if (before && switched) faults.push(`answer ${at} is of the old generation after one of the new`);
    else switched ||= after;
  }
  return faults;
}
