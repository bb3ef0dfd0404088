import { afterAll, beforeAll } from 'vitest';
import { usePglite } from '../../promises/bed.js';
import { otherTextsSuite } from '../../suites/other-texts-suite.js';
import { startQdrant, type QdrantDouble } from '../../support/qdrant/start.js';

let double: QdrantDouble;
beforeAll(async () => {
  double = await startQdrant();
});
afterAll(() => double.close());

otherTextsSuite('Qdrant (double)', {
  openBed: usePglite(),
  sink: (_, keepText) => ({ qdrant: { url: double.url, keepText } }),
});
