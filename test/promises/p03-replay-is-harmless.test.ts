import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { document, logOf, outcomes, paragraphs, smallChunks, usePglite } from './bed.js';

const openBed = usePglite();

test('a second run embeds nothing and leaves the same rows, also after a touched file', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': '# Ants\n\nAnts.', 'b.txt': 'Bees.', 'c.jsonl': '{"id":"c","text":"Cows."}\n' });
  const first = await bed.run();
  expect(first.outcomes.stored).toBe(3);
  expect(first.embedded).toBe(first.chunks);
  const before = await bed.content();
  await utimes(join(bed.folder, 'docs/a.md'), new Date(), new Date(Date.now() + 5_000));
  const second = await bed.run();
  expect(second).toMatchObject({ embedded: 0, outcomes: { stored: 0, unchanged: 3 } });
  expect((await bed.content()).chunks).toEqual(before.chunks);
});

test('one changed file embeds that file only', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'Ants.', 'b.md': 'Bees.', 'c.md': 'Cows.' });
  await bed.run();
  await bed.write({ 'b.md': 'Bees and bears.' });
  expect(await bed.run()).toMatchObject({ embedded: 1, outcomes: { stored: 1, unchanged: 2 } });
  expect(await bed.texts('b.md')).toEqual(['Bees and bears.']);
});

test('a paragraph put on top of a document embeds that paragraph only, and moves the others', async () => {
  const bed = await openBed();
  const old = paragraphs(6);
  await bed.run({ input: smallChunks, source: logOf([document('a', 1, old.join('\n\n'))]) });
  const before = await bed.content();
  expect(before.chunks).toHaveLength(6);
  const added = paragraphs(1, 'preface')[0]!;
  const summary = await bed.run({
    input: smallChunks,
    source: logOf([document('a', 2, [added, ...old].join('\n\n'))]),
  });
  expect(summary).toMatchObject({ embedded: 1, chunks: 7 });
  const after = await bed.content();
  const kept = after.chunks.filter(({ ordinal }) => ordinal > 0);
  expect(kept.map(({ id, vector }) => [id, vector])).toEqual(
    before.chunks.map(({ id, vector }) => [id, vector]),
  );
});

test('the same deliveries again, and a record replayed twice, change nothing', async () => {
  const bed = await openBed();
  const deliveries = [[document('a', 1, 'ants'), document('b', 2, 'bees')]];
  await bed.run({ source: logOf(...deliveries) });
  const before = await bed.content();
  const again = logOf(...deliveries);
  expect((await bed.run({ source: again })).embedded).toBe(0);
  expect(outcomes(again)).toEqual(['unchanged', 'unchanged']);
  const after = await bed.content();
  expect(after.chunks).toEqual(before.chunks);
  expect(after.ledger).toEqual(before.ledger);
});
