import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../../../src/inference/load-model.js';
import { createWorkerPool } from '../../../src/inference/workers/pool.js';
import type { RunEvent } from '../../../src/observability/events.js';
import { createChunker } from '../../../src/transforms/chunk/pooled-chunker.js';
import { markdownTexts } from '../../inference/tokenizer/corpus.js';

const pool = createWorkerPool({ size: 2 });
afterAll(() => pool.close());
const texts = markdownTexts(20);
const files = { pool, baseFolder: '/', cacheFolder: '/nonexistent', offline: true };
const { signal } = new AbortController();

describe('chunking and embedding in one call', () => {
  it.each([false, true])(
    'gives the passages and vectors of two calls, bit for bit (headings: %s)',
    async (headingPrefix) => {
      const model = await loadEmbeddingModel({ static: { model: 'bundled', prompts: {} } }, files);
      const events: RunEvent[] = [];
      const chunker = createChunker({
        chunker: { markdown: { maxTokens: 60, headingPrefix } },
        tokenizer: model.tokenizer!,
        model: { ref: model.inPlace!, name: 'bundled', width: model.identity.width },
        pool,
        clock: systemClock,
        signal,
        report: (event) => events.push(event),
      });
      let chunks = 0;
      await Promise.all(
        ['', ...texts].map(async (text) => {
          const [both] = await chunker.chunkAndEmbed!([text]);
          if (both === undefined || both instanceof Error) throw new Error('Not embedded.', { cause: both });
          const { passages, ids } = await chunker.chunk(text);
          expect(both.passages).toEqual(passages);
          const embedded = passages.map(({ prefix = '', start, end }, at) => ({
            text: prefix + text.slice(start, end),
            ids: ids[at]!,
          }));
          const { vectors } = await model.embed(embedded, 'document');
          expect(both.vectors).toEqual(vectors);
          chunks += passages.length;
        }),
      );
      const reported = events.flatMap((event) => (event.type === 'batch' ? [event.items] : []));
      expect(reported.reduce((sum, items) => sum + items, 0)).toBe(chunks);
      expect(chunks).toBeGreaterThan(100);
      await model.close();
    },
  );

  it('is not offered by a model with a document prompt, whose texts have other tokens', async () => {
    const model = await loadEmbeddingModel(
      { static: { model: 'bundled', prompts: { document: 'passage: ' } } },
      files,
    );
    expect(model.inPlace).toBeUndefined();
    await model.close();
  });
});
