import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inChildProcess } from './child-process.js';
import type { Benchmark } from './figure.js';
import { writeJsonLines } from './json-lines.js';
import { median } from './median.js';
import type { MemoryResult, MemorySide } from './memory-side.js';

type Sink = MemorySide['sink'];

/** Peak memory of a run over many documents against one over a tenth of them. */
export const memory: Benchmark = {
  about:
    'peak memory at 1,000,000 JSON Lines documents against 100,000 (null sink); 20,000 against 5,000 (PGlite)',
  async *run(say) {
    for (const { sink, few, many, rounds, bar } of [
      { sink: 'nothing', few: 100_000, many: 1_000_000, rounds: 3, bar: 1.2 },
      { sink: 'pglite', few: 5_000, many: 20_000, rounds: 1, bar: undefined },
    ] as const) {
      const results = new Map<number, MemoryResult[]>([
        [few, []],
        [many, []],
      ]);
      for (let round = 0; round < rounds; round += 1)
        for (const [documents, list] of results) {
          const result = await measure(sink, documents);
          list.push(result);
          say(
            `${sink}, ${documents} documents: ${megabytes(result.peakBytes)} MB, ${Math.round(result.ms / 1000)} s`,
          );
        }
      const peak = (documents: number) => median(results.get(documents)!.map(({ peakBytes }) => peakBytes));
      for (const documents of [few, many]) {
        const name = `memory/${sink}/${documents}`;
        yield { name: `${name}/peak`, value: megabytes(peak(documents)), unit: 'MB', better: 'lower' };
        const rate = median(results.get(documents)!.map(({ ms }) => (documents * 1000) / ms));
        yield { name: `${name}/documents`, value: Math.round(rate), unit: '1/s', better: 'higher' };
      }
      yield {
        name: `memory/${sink}/ratio`,
        value: Math.round((peak(many) / peak(few)) * 1000) / 1000,
        unit: 'times',
        ...(bar !== undefined && { bar }),
        better: 'lower',
      };
    }
  },
};

async function measure(sink: Sink, documents: number): Promise<MemoryResult> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  try {
    await mkdir(join(folder, 'source'));
    await writeJsonLines(join(folder, 'source', 'notes.jsonl'), documents);
    return await inChildProcess(new URL('./memory-side.js', import.meta.url), { folder, documents, sink });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
