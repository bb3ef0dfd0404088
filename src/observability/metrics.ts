import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RunEvent } from './events.js';
import type { ServerEvent } from './server-events.js';

export interface Metrics {
  /** Counts an event: the same that feed log and progress. */
  see(event: RunEvent | ServerEvent): void;
  /** A value that is looked up whenever the page is asked for. */
  gauge(name: string, help: string, read: () => number): void;
  /** The page in the text format of Prometheus. */
  page(): Promise<{ readonly contentType: string; readonly text: string }>;
}

const seconds = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100];
const powersOfTwo = Array.from({ length: 12 }, (_, power) => 2 ** power);

/** A registry of its own over the typed events. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `millrace_${name}`, help, labelNames, registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    buckets: number[] = seconds,
  ) => new Histogram({ name: `millrace_${name}`, help, labelNames, buckets, registers });

  const documents = counter('documents_total', 'Documents by what became of them.', ['outcome']);
  const characters = counter('characters_total', 'UTF-16 code units of settled documents.', []);
  const embedded = counter('chunks_embedded_total', 'Chunks that went through the model.', []);
  const swept = counter(
    'documents_swept_total',
    'Documents deleted because their source no longer has them.',
    [],
  );
  const failures = counter('failures_total', 'Failed elements.', ['stage', 'code']);
  const batches = counter('batches_total', 'Batches.', ['lane']);
  const items = histogram('batch_items', 'Items of a batch.', ['lane'], powersOfTwo);
  const tokens = counter('batch_tokens_total', 'Tokens of batches, padding excluded.', ['lane']);
  const padding = counter('batch_padding_tokens_total', 'Tokens of padding in batches.', ['lane']);
  const times = histogram(
    'batch_seconds',
    'Time of a batch: in its worker (infer), and waiting for it, retries included (queue).',
    ['lane', 'stage'],
  );
  const retries = counter('retries_total', 'Calls that failed and were tried again.', ['lane', 'code']);
  const paused = new Gauge({
    name: 'millrace_lane_paused',
    help: '1 while a lane waits for an outage to pass.',
    labelNames: ['lane'],
    registers,
  });
  const full = new Gauge({
    name: 'millrace_lane_full',
    help: '1 while what waits for a lane fills its share of the bound, and reading pauses.',
    labelNames: ['lane'],
    registers,
  });
  const lag = (name: string, help: string) =>
    new Gauge({ name: `millrace_source_lag_${name}`, help, labelNames: ['source'], registers });
  const lagEntries = lag('entries', 'Elements that the source holds unread or unconfirmed.');
  const lagBytes = lag('bytes', 'Bytes that the source keeps until they are confirmed.');
  const lagSeconds = lag('seconds', 'Age of the oldest unconfirmed change; 0 when all is confirmed.');
  const stalled = new Gauge({
    name: 'millrace_source_stalled',
    help: '1 while reading the source stands still.',
    labelNames: ['source'],
    registers,
  });
  const notices = counter('notices_total', 'Notices to the operator.', ['code', 'level']);
  const loaded = counter('models_loaded_total', 'Models that were loaded.', ['model']);
  const refreshes = counter('model_refreshes_total', 'Refreshes of models by what came of them.', [
    'model',
    'result',
  ]);
  const requests = counter('requests_total', 'Requests by HTTP status.', ['route', 'status']);
  const requestTimes = histogram('request_seconds', 'Time from request to answer.', ['route']);
  const stages = histogram(
    'request_stage_seconds',
    'Time of an answered request to its token ids (tokenize) and on to its vectors, waiting for a batch included (embed).',
    ['stage'],
  );
  const requestTexts = counter('request_texts_total', 'Texts that clients had embedded.', []);
  const requestTokens = counter('request_tokens_total', 'Tokens of those texts.', []);
  const faults = counter('request_failures_total', 'Requests that failed by a fault of the server.', [
    'code',
  ]);

  function see(event: RunEvent | ServerEvent): void {
    switch (event.type) {
      case 'settled':
        documents.inc({ outcome: event.outcome });
        characters.inc(event.characters);
        embedded.inc(event.embedded);
        return;
      case 'failed':
        failures.inc({ stage: event.stage, code: event.error.code });
        return;
      case 'batch': {
        const { lane, cost, paddedCost = cost, ms, servedMs = ms } = event;
        batches.inc({ lane });
        items.observe({ lane }, event.items);
        tokens.inc({ lane }, cost);
        padding.inc({ lane }, paddedCost - cost);
        times.observe({ lane, stage: 'infer' }, servedMs / 1000);
        times.observe({ lane, stage: 'queue' }, Math.max(0, ms - servedMs) / 1000);
        return;
      }
      case 'retry':
        retries.inc({ lane: event.lane, code: event.error.code });
        if (event.pausing) paused.set({ lane: event.lane }, 1);
        return;
      case 'recovered':
        paused.set({ lane: event.lane }, 0);
        return;
      case 'lane-full':
        full.set({ lane: event.lane }, 1);
        return;
      case 'lane-free':
        full.set({ lane: event.lane }, 0);
        return;
      case 'refresh':
        refreshes.inc({ model: event.model, result: event.result });
        return;
      case 'swept':
        swept.inc(event.documents);
        return;
      case 'lag': {
        const { source, entries, bytes, seconds } = event;
        if (entries !== undefined) lagEntries.set({ source }, entries);
        if (bytes !== undefined) lagBytes.set({ source }, bytes);
        if (seconds !== undefined) lagSeconds.set({ source }, seconds);
        stalled.set({ source }, event.stalled === undefined ? 0 : 1);
        return;
      }
      case 'notice':
        notices.inc({ code: event.code, level: event.level });
        return;
      case 'model-loaded':
        loaded.inc({ model: event.model });
        return;
      case 'request':
        requests.inc({ route: event.route, status: event.status });
        requestTimes.observe({ route: event.route }, event.ms / 1000);
        if (event.stages !== undefined) {
          stages.observe({ stage: 'tokenize' }, event.stages.tokenizeMs / 1000);
          stages.observe({ stage: 'embed' }, event.stages.embedMs / 1000);
        }
        requestTexts.inc(event.texts);
        requestTokens.inc(event.tokens);
        return;
      case 'request-failed':
        faults.inc({ code: event.error.code });
        return;
      case 'started':
      case 'status-open':
      case 'progress':
      case 'filling':
      case 'caught-up':
      case 'finished':
      case 'listening':
      case 'ready':
      case 'stopped':
        return;
      default:
        event satisfies never;
    }
  }

  return {
    see,
    gauge: (name, help, read) =>
      void new Gauge({
        name: `millrace_${name}`,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
    page: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}
