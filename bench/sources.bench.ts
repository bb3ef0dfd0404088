import { startPostgres } from '../test/support/services/postgres.js';
import { startRedis } from '../test/support/services/redis.js';
import { inChildProcess } from './child-process.js';
import type { Benchmark, Figure } from './figure.js';
import { median } from './median.js';
import type { SourcesResult, SourcesSide } from './sources-side.js';

type Side = SourcesSide['side'];

/** `MILLRACE_BENCH_ROWS=500000` for a short form, which measures compiling too: the small one is a tenth of it. */
const large = Number(process.env['MILLRACE_BENCH_ROWS'] ?? 5_000_000);
const small = Math.round(large / 10);
const rounds = 3;

/** Streams read through the run's own loop without embedding and without a store, against bare loops that only read. */
export const sources: Benchmark = {
  about: `change data capture and Redis streams against bare loops; peak memory at ${large} elements against ${small}`,
  async *run(say) {
    const postgres = await startPostgres({
      wal_level: 'logical',
      max_replication_slots: '40',
      max_wal_size: '8GB',
      checkpoint_timeout: '30min',
      synchronous_commit: 'off',
    });
    try {
      yield* compare('cdc', postgres.url, 0.7, say);
    } finally {
      await postgres.stop();
    }
    const redis = await startRedis({ appendonly: 'no' });
    try {
      yield* compare('redis', redis.url, 0.6, say);
    } finally {
      await redis.stop();
    }
  },
};

async function* compare(
  name: 'cdc' | 'redis',
  url: string,
  bar: number,
  say: (line: string) => void,
): AsyncGenerator<Figure> {
  const results: { readonly [side in 'ours' | 'bare' | 'large']: SourcesResult[] } = {
    ours: [],
    bare: [],
    large: [],
  };
  let runs = 0;
  const measure = async (kind: keyof typeof results, side: Side, elements: number) => {
    const input: SourcesSide = { side, url, elements, name: `bench_${name}_${(runs += 1)}` };
    const result = await inChildProcess<SourcesSide, SourcesResult>(
      new URL('./sources-side.js', import.meta.url),
      input,
    );
    results[kind].push(result);
    say(
      `${side}, ${elements} elements: ${Math.round((elements * 1_000) / result.ms)}/s, ${Math.round(result.peakBytes / 1e6)} MB`,
    );
  };
  for (let round = 0; round < rounds; round += 1) {
    await measure('bare', `${name}-bare`, small);
    await measure('ours', name, small);
  }
  await measure('large', name, large);
  for (const side of ['ours', 'bare'] as const)
    yield {
      name: `sources/${name}/${side}`,
      value: Math.round(median(results[side].map(({ ms }) => (small * 1_000) / ms))),
      unit: 'elements/s',
      better: 'higher',
    };
  const ratios = results.ours.map(({ ms }, round) => results.bare[round]!.ms / ms);
  yield {
    name: `sources/${name}/ratio`,
    value: Math.round(median(ratios) * 1_000) / 1_000,
    unit: 'of the bare loop',
    bar,
    better: 'higher',
  };
  const cpuRatios = results.ours.map(({ cpuMs }, round) => results.bare[round]!.cpuMs / cpuMs);
  yield {
    name: `sources/${name}/processor-ratio`,
    value: Math.round(median(cpuRatios) * 1_000) / 1_000,
    unit: 'of the bare loop',
    better: 'higher',
  };
  const peak = median(results.ours.map(({ peakBytes }) => peakBytes));
  yield { name: `sources/${name}/peak`, value: Math.round(peak / 1e6), unit: 'MB', better: 'lower' };
  yield {
    name: `sources/${name}/memory-ratio`,
    value: Math.round((results.large[0]!.peakBytes / peak) * 1_000) / 1_000,
    unit: 'times',
    bar: 1.2,
    better: 'lower',
  };
}
