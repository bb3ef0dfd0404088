import type { Artifacts } from '../../src/contracts/artifacts.js';
import type { Clock } from '../../src/contracts/context.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';

/** Artifact that says how far the first fill is. */
const artifact = 'first-fill';
type Fill = 'under way' | 'over';

const pollMs = 500;

/**
 * Before the collection is made: whether this is a first fill. It is said first, so that whoever finds the collection
 * without an index knows that it still has to be given one.
 */
export async function beginFirstFill(
  port: QdrantPort,
  names: CollectionNames,
  artifacts: Artifacts,
): Promise<boolean> {
  const known = (await artifacts.read(artifact)) as Fill | undefined;
  if (known !== undefined) return known === 'under way';
  const made = (await port.describe(names.chunks)) !== undefined;
  return (await artifacts.insert(artifact, made ? 'over' : 'under way')) === 'under way';
}

/** Ends a first fill: indexing is switched on and waited for. Also where another process began it, or this one before it was killed. */
export async function endFirstFill(
  port: QdrantPort,
  names: CollectionNames,
  artifacts: Artifacts,
  { indexFrom, clock }: { readonly indexFrom: number; readonly clock: Clock },
  signal?: AbortSignal,
): Promise<void> {
  if ((await artifacts.read(artifact)) !== ('under way' satisfies Fill)) return;
  await port.indexFrom(names.chunks, indexFrom, signal);
  await untilGreen(port, names.chunks, { indexFrom, clock }, signal);
  await artifacts.replace(artifact, 'under way' satisfies Fill, 'over' satisfies Fill);
}

/** Green: nothing is left to optimize. Grey waits for a change before it goes on, so the setting is given again. */
async function untilGreen(
  port: QdrantPort,
  collection: string,
  { indexFrom, clock }: { readonly indexFrom: number; readonly clock: Clock },
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const status = (await port.describe(collection, signal))?.status;
    switch (status) {
      case 'green':
      case undefined:
        return;
      case 'red':
        throw new MillraceError(
          'store_unavailable',
          `The collection ${collection} is red: Qdrant cannot optimize it.`,
          {
            hint: "Look into Qdrant's log; most often its disk or its memory is full.",
          },
        );
      case 'grey':
        await port.indexFrom(collection, indexFrom, signal);
        await clock.sleep(pollMs, signal);
        break;
      case 'yellow':
        await clock.sleep(pollMs, signal);
        break;
      default:
        status satisfies never;
    }
  }
}
