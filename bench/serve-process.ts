/** The server of the serve benchmark: says its address; at SIGTERM its processor time in ms, and ends. */
import { parseServe } from '../src/config/serve-config.js';
import { createMetrics } from '../src/observability/metrics.js';
import { serveModels } from '../src/runtime/serve.js';

const { folder, dtype, workers } = JSON.parse(process.argv[2]!) as {
  folder: string;
  dtype: 'fp32' | 'int8';
  workers: number;
};
const stop = new AbortController();
let loadMs = 0;
process.once('SIGTERM', () => stop.abort());
const spec = parseServe(
  { serve: { served: { onnx: { model: folder, dtype } } }, port: 0, workers },
  { baseFolder: '.', cacheFolder: '.', origin: 'the benchmark' },
);
await serveModels(spec, {
  signal: stop.signal,
  metrics: createMetrics(),
  onEvent: (event) => {
    if (event.type !== 'ready') return;
    const { user, system } = process.cpuUsage();
    loadMs = (user + system) / 1_000;
    process.stdout.write(`${event.url}\n`);
  },
});
const { user, system } = process.cpuUsage();
process.stdout.write(`${(user + system) / 1_000 - loadMs}\n`);
