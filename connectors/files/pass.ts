import type { Delivery } from '../../src/contracts/source.js';
import { listFiles } from './list.js';
import { readFiles } from './read-files.js';
import type { Reader } from './reader.js';

/** Reads everything in a folder once, and then says so: what it did not name is gone. */
export async function* readPass(reader: Reader, spared: ReadonlySet<string>): AsyncGenerator<Delivery> {
  const { context, folder, report } = reader;
  const since = await context.passStart();
  yield* readFiles(reader, listFiles(folder, report, context.signal));
  if (context.signal.aborted) return;
  yield { kind: 'complete', scope: { prefix: '', except: [...spared], since } };
}
