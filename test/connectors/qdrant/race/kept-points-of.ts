import assert from 'node:assert/strict';
import { documentKey } from '../../../../connectors/qdrant/names.js';
import { version } from '../../../suites/store-samples.js';
import type { World } from './world.js';

/** What the source gave at a version. */
export function givenAt(position: number) {
  return { given: { text: `given ${position}`, metadata: { position, of: [1.5, null] } } };
}

/** The kept texts of a document: those that its writes have ended with, and those that nobody has. */
export function keptPointsOf({ engine }: World, documentId: string): { live: string[]; unseen: string[] } {
  const texts = (seen: boolean) =>
    pointsOf(engine, documentId).flatMap(({ payload }) =>
      payload['live'] === seen ? [payload['text'] as string] : [],
    );
  return { live: texts(true), unseen: texts(false) };
}

/** What the ledger points to is there, and is of the version that it names. */
export function checkKept({ engine }: World, documentId: string): void {
  const key = documentKey('race', documentId);
  const record = engine.points('millrace_race_ledger').find(({ id }) => id === key)?.payload;
  if (record?.['state'] !== 'stored') return;
  const kept = pointsOf(engine, documentId).find(({ id }) => id === record['text_write']);
  const { position } = JSON.parse(kept?.payload['metadata'] as string) as { position: number };
  assert.equal(version(position), record['version']);
  assert.equal(kept!.payload['text'], givenAt(position).given.text);
}

function pointsOf(engine: World['engine'], documentId: string) {
  const key = documentKey('race', documentId);
  return engine.points('millrace_race_texts').filter(({ payload }) => payload['doc'] === key);
}
