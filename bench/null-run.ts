import type { FailedStore } from '../src/contracts/failed-store.js';
import type { Source, SourceState } from '../src/contracts/source.js';
import { Admission } from '../src/flow/admission.js';
import { Stop } from '../src/flow/stop.js';
import { systemClock } from '../src/flow/system-clock.js';
import { UnderWay } from '../src/flow/under-way.js';
import type { Chain } from '../src/pipeline/document-task.js';
import type { Route } from '../src/pipeline/route.js';
import { defaultRoom } from '../src/runtime/default-room.js';
import { runLoop } from '../src/runtime/run-loop.js';
import { createNullStore } from './null-store.js';

const vector = new Float32Array([1, 0, 0, 0]);
const limits = { ...defaultRoom(2, []), maxItemBytes: 32 << 20, maxChunks: 20_000 };

/** One chunk a document, and the same vector for all: what is left is the source and the engine. */
const nullRoute: Route = {
  name: '*',
  chunker: {
    chunk: async (text) => ({ passages: [whole(text)], ids: [] }),
    chunkAndEmbed: async (texts) => texts.map((text) => ({ passages: [whole(text)], vectors: [vector] })),
  },
  inferChunks: [],
  lanes: [
    {
      space: '*',
      width: vector.length,
      model: 'null',
      takesIds: false,
      embed: async (texts) => texts.map(() => ({ vector, modelId: 'null' })),
    },
  ],
  run: (_units, work) => work(),
};
const chain: Chain = { enrich: [], route: () => nullRoute, digest: 'null', keepsTerms: false };

const noFailures: FailedStore = {
  put: async ([record]) => {
    throw new Error(`${record?.documentId} failed: ${record?.error.message}`);
  },
  list: async function* () {},
  get: async () => undefined,
  discard: async () => 0,
  expire: async () => 0,
  close: async () => undefined,
};

/** Reads a source to its end through the run's own loop, without embedding, into a store that keeps nothing. @returns documents */
export async function drainInto(source: Source, state: SourceState): Promise<number> {
  const summary = await runLoop({
    pipeline: 'bench',
    source,
    chain,
    sink: createNullStore().sink,
    failed: noFailures,
    state,
    admission: new Admission(limits),
    underWay: new UnderWay(systemClock),
    limits,
    watch: false,
    rereadEveryMs: undefined,
    allowMassDeletion: false,
    keepRecords: false,
    clock: systemClock,
    stop: new Stop(systemClock),
    report: () => undefined,
    tune: async () => undefined,
  });
  return summary.outcomes.stored;
}

function whole(text: string) {
  return { start: 0, end: text.length, tokens: 1 };
}
