/** The server of the serve benchmark: says its address, its processor time in ms at each line that it is given, ends at SIGTERM. */
import { parseServe } from '../src/config/serve-config.js';
import { createMetrics } from '../src/observability/metrics.js';
import { serveModels } from '../src/runtime/serve.js';

const { folder, dtype, workers } = JSON.parse(process.argv[2]!) as {
  folder: string;
  dtype: 'fp32' | 'int8';
  workers: number;
};
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
process.stdin.on('data', () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${(user + system) / 1_000}\n`);
});
const spec = parseServe(
  { serve: { served: { onnx: { model: folder, dtype } } }, port: 0, workers },
  { baseFolder: '.', cacheFolder: '.', origin: 'the benchmark' },
);
await serveModels(spec, {
  signal: stop.signal,
  metrics: createMetrics(),
  onEvent: (event) => {
    if (event.type === 'ready') process.stdout.write(`${event.url}\n`);
  },
});
process.stdin.destroy();
