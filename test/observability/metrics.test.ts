import { expect, test } from 'vitest';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { createMetrics } from '../../src/observability/metrics.js';

test('events become figures in the text format of Prometheus', async () => {
  const metrics = createMetrics();
  const { see } = metrics;
  const error = new MillraceError('remote_unavailable', 'gone');
  see({ type: 'settled', documentId: 'a', outcome: 'stored', embedded: 3, characters: 100 });
  see({ type: 'settled', documentId: 'b', outcome: 'unchanged', embedded: 0, characters: 50 });
  see({ type: 'failed', documentId: 'c', stage: 'embed', error });
  see({ type: 'batch', lane: 'small', items: 4, cost: 100, paddedCost: 120, ms: 300, servedMs: 200 });
  see({ type: 'batch', lane: 'small', items: 1, cost: 10, ms: 50 });
  see({ type: 'retry', lane: 'small', error, attempt: 1, delayMs: 200, pausing: true });
  see({ type: 'lag', source: 's', entries: 12, bytes: 1_000, seconds: 1.5, stalled: 'gone' });
  see({
    type: 'request',
    route: 'embeddings',
    status: 200,
    texts: 4,
    tokens: 100,
    ms: 20,
    stages: { tokenizeMs: 5, embedMs: 15 },
  });
  metrics.gauge('answer', 'What it is.', () => 42);
  const { text, contentType } = await metrics.page();
  expect(contentType).toContain('text/plain');
  const lines = text.split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'millrace_documents_total{outcome="stored"} 1',
      'millrace_documents_total{outcome="unchanged"} 1',
      'millrace_characters_total 150',
      'millrace_chunks_embedded_total 3',
      'millrace_failures_total{stage="embed",code="remote_unavailable"} 1',
      'millrace_batches_total{lane="small"} 2',
      'millrace_batch_items_sum{lane="small"} 5',
      'millrace_batch_tokens_total{lane="small"} 110',
      'millrace_batch_padding_tokens_total{lane="small"} 20',
      'millrace_batch_seconds_sum{lane="small",stage="infer"} 0.25',
      'millrace_batch_seconds_sum{lane="small",stage="queue"} 0.1',
      'millrace_retries_total{lane="small",code="remote_unavailable"} 1',
      'millrace_lane_paused{lane="small"} 1',
      'millrace_requests_total{route="embeddings",status="200"} 1',
      'millrace_request_tokens_total 100',
      'millrace_request_stage_seconds_sum{stage="tokenize"} 0.005',
      'millrace_request_stage_seconds_sum{stage="embed"} 0.015',
      'millrace_source_lag_entries{source="s"} 12',
      'millrace_source_lag_bytes{source="s"} 1000',
      'millrace_source_lag_seconds{source="s"} 1.5',
      'millrace_source_stalled{source="s"} 1',
      'millrace_answer 42',
    ]),
  );
  see({ type: 'recovered', lane: 'small' });
  expect((await metrics.page()).text).toContain('millrace_lane_paused{lane="small"} 0');
});

test('two registries count apart', async () => {
  const [one, two] = [createMetrics(), createMetrics()];
  one.see({ type: 'swept', documents: 5 });
  expect((await one.page()).text).toContain('millrace_documents_swept_total 5');
  expect((await two.page()).text).toContain('millrace_documents_swept_total 0');
});
