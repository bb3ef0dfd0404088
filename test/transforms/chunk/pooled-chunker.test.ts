import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../../../src/inference/load-model.js';
import { bundledFolder } from '../../../src/inference/models/resolve-model.js';
import { tokenizerRef } from '../../../src/inference/tokenizer/load-tokenizer.js';
import { createWorkerPool, type WorkerPool } from '../../../src/inference/workers/pool.js';
import type { RunEvent } from '../../../src/observability/events.js';
import { createChunker } from '../../../src/transforms/chunk/pooled-chunker.js';
import { markdownTexts } from '../../inference/tokenizer/corpus.js';

const pool = createWorkerPool({ size: 2 });
afterAll(() => pool.close());
const texts = markdownTexts(20);
const files = { pool, baseFolder: '/', cacheFolder: '/nonexistent', offline: true };
const { signal } = new AbortController();

it('chunks a text again when its worker ends in the middle of it', async () => {
  // One that can be killed from here, in the middle of a call.
  const mortal = createWorkerPool({ size: 1, isolation: 'process' });
  const fixture = new URL('../../inference/workers/fixture-service.js', import.meta.url);
  const host = mortal.service(fixture, { label: 'host' });
  const retries: RunEvent[] = [];
  const tokenizer = await tokenizerRef(join(bundledFolder(), 'tokenizer.json'));
  const open = (workers: WorkerPool) =>
    createChunker({
      chunker: { markdown: { maxTokens: 60 } },
      tokenizer,
      pool: workers,
      clock: systemClock,
      signal,
      report: (event) => retries.push(event),
    });
  const [chunker, sound] = [open(mortal), open(pool)];
  const text = texts[0]!;
  for (let round = 0; round < 3; round += 1) {
    const pid = await host.call<number>('pid', null);
    // It takes the text, and does not come to its end.
    process.kill(pid, 'SIGSTOP');
    const found = chunker.chunk(text);
    await turn();
    process.kill(pid, 'SIGKILL');
    expect(await found).toEqual(await sound.chunk(text));
    expect(retries.splice(0)).toMatchObject([
      { type: 'retry', lane: 'chunk', error: { code: 'worker_crashed' } },
    ]);
  }
  await mortal.close();
});

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
