import type { DocumentWrite } from '../../../src/contracts/sink.js';
import { createEngine, type Engine } from '../../support/qdrant/engine.js';
import { layout } from '../../suites/store-samples.js';
import { processesOver } from './processes-over.js';

/** An engine that holds what a process of the pipeline wrote. */
export async function filledEngine(pipeline: string, writes: readonly DocumentWrite[]): Promise<Engine> {
  const engine = createEngine();
  const store = processesOver(engine, pipeline).open();
  await store.prepare(layout);
  await store.sink.write(writes);
  await store.close();
  return engine;
}
