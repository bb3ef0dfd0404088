import { rmSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { staticFolder } from '../inference/static/static-folder.js';
import { tokenizerOf } from '../inference/tokenizer/oracle.js';
import { bertFile } from '../inference/tokenizer/tokenizer-files.js';
import { usePglite } from '../promises/bed.js';

const openBed = usePglite();
const words = ['ants', 'bees', 'cows'];
const width = 8;
const tokenizerFile = bertFile([words.join(' ')]);
const tokenizer = await tokenizerOf(tokenizerFile);
const [spoilt] = tokenizer.ids('cows');
const rows = Float32Array.from({ length: tokenizer.vocabularySize * width }, (_, at) =>
  Math.floor(at / width) === spoilt ? Infinity : Math.sin(at + 1),
);
const folder = staticFolder(tokenizerFile, {
  embeddings: { dtype: 'F32', shape: [tokenizer.vocabularySize, width], data: rows },
});
afterAll(() => rmSync(folder.path, { recursive: true }));

test('a document for which a model run in place gives no sound vector is a failed element; its neighbours are stored', async () => {
  const bed = await openBed();
  await bed.write(Object.fromEntries(words.map((word) => [`${word}.txt`, word])));
  const chain = [{ chunk: { recursive: { maxTokens: 20 } } }, { embed: { static: { model: folder.path } } }];
  const { outcomes } = await bed.run({ input: { chain } });
  expect(outcomes).toMatchObject({ stored: 2, failed: 1 });
  const records = await bed.failed();
  expect(records).toMatchObject([
    { documentId: 'cows.txt', stage: 'embed', error: { code: 'embedding_invalid' } },
  ]);
});
