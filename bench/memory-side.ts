/** One run of the memory benchmark, in a process of its own: the highest that a process ever held is asked of it. */
import { connectors } from '../connectors/registry.js';
import { parsePipeline } from '../src/config/parse.js';
import { runPipeline } from '../src/runtime/run.js';
import { answer } from './child-process.js';
import { nothing } from './null-store.js';

export interface MemorySide {
  /** Folder with the JSON Lines file; the store goes there too. */
  readonly folder: string;
  readonly documents: number;
  readonly sink: 'nothing' | 'pglite';
}

export interface MemoryResult {
  readonly peakBytes: number;
  readonly ms: number;
}

await answer(async ({ folder, documents, sink }: MemorySide): Promise<MemoryResult> => {
  const all = { ...connectors, nothing };
  const spec = parsePipeline(
    {
      name: 'bench',
      source: { files: { root: 'source' } },
      sink: sink === 'nothing' ? { nothing: {} } : { pglite: { path: 'store' } },
      failed: { files: { path: 'failed' } },
    },
    { connectors: all, baseFolder: folder, cacheFolder: folder, origin: 'The benchmark' },
  );
  const { outcomes, ms } = await runPipeline(spec, { connectors: all });
  if (outcomes.stored !== documents)
    throw new Error(`${outcomes.stored} of ${documents} documents were stored.`);
  return { peakBytes: process.resourceUsage().maxRSS * 1024, ms };
});
