import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { minilmFolder } from '../test/support/weights/minilm.js';
import { inChildProcess } from './child-process.js';
import type { Benchmark, Figure } from './figure.js';
import { median } from './median.js';
import type { SwapResult, SwapSide } from './swap-side.js';

const swaps = 50;

/** MiniLM exchanged again and again under load, with two poolings for two models. */
export const swap: Benchmark = {
  about: 'all-MiniLM-L6-v2 exchanged 50 times under load, failing loads and probes among them',
  async *run(say) {
    for (const { kind, room } of [
      { kind: 'embed', room: 'beside' },
      { kind: 'embed', room: 'in-place' },
      { kind: 'infer', room: 'beside' },
    ] as const) {
      const result = await measure({ kind, room, swaps });
      say(
        `${kind}, ${room}: ${result.switched} exchanged, ${result.refused} refused, ${result.elements} texts; ` +
          `resident MB ${result.rss.map((bytes) => Math.round(bytes / 1e6)).join(' ')}`,
      );
      yield* figures(`swap/${kind}/${room}`, result);
    }
  },
};

function* figures(name: string, result: SwapResult): Generator<Figure> {
  const none = { bar: 0, better: 'lower' } as const;
  yield {
    name: `${name}/exchanges`,
    value: result.switched,
    unit: 'exchanges',
    bar: swaps,
    better: 'higher',
  };
  yield { name: `${name}/lost`, value: result.lost, unit: 'texts', ...none };
  yield { name: `${name}/mislabelled`, value: result.mislabelled, unit: 'texts', ...none };
  const { pauseMs, batchMs, switchMs } = result;
  yield { name: `${name}/pause`, value: Math.round(pauseMs), unit: 'ms', better: 'lower' };
  yield {
    name: `${name}/pause-ratio`,
    value: rounded(pauseMs / (batchMs + switchMs)),
    unit: 'times',
    bar: 1,
    better: 'lower',
  };
  const third = Math.floor(result.rss.length / 3);
  const [middle, end] = [result.rss.slice(third, 2 * third), result.rss.slice(-third)].map((part) =>
    median(part),
  );
  yield { name: `${name}/resident`, value: Math.round(end! / 1e6), unit: 'MB', better: 'lower' };
  // The last third of the exchanges against the second: a leak of one model in ten exchanges would show.
  yield { name: `${name}/growth`, value: rounded(end! / middle!), unit: 'times', bar: 1.1, better: 'lower' };
}

async function measure(side: Pick<SwapSide, 'kind' | 'room' | 'swaps'>): Promise<SwapResult> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-swap-'));
  try {
    const input: SwapSide = { ...side, model: minilmFolder(), folder };
    return await inChildProcess(new URL('./swap-side.js', import.meta.url), input);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
