import type { Delivery } from '../../src/contracts/source.js';
import { isMassDeletion } from '../../src/elements/mass-deletion.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { KnownFiles } from './known-files.js';
import { listFiles } from './list.js';
import { isJsonLines, readFiles } from './read-files.js';
import { deliveryElements, deliveryOf, type Reader } from './reader.js';
import { lookAt } from './stamp.js';

/**
 * Looks at the folder again and again, and hands over what changed since the look before. It looks at names, sizes and
 * times instead of asking the system for events, which are lost on network drives and in containers, and whose recursive
 * form misses new folders on Linux.
 */
export async function* watchFolder(
  reader: Reader,
  known: KnownFiles,
  spared: Set<string>,
  pollMs: number,
): AsyncGenerator<Delivery> {
  const { clock, context } = reader;
  let took = 0;
  const every = context.rereadEveryMs ?? Infinity;
  let rereadAt = clock.now() + every;
  while (!context.signal.aborted) {
    // Looking takes a fifth of the time at most, however large the folder is.
    await clock.sleep(Math.max(pollMs, took * 4), context.signal).catch(() => undefined);
    if (context.signal.aborted) return;
    const start = clock.now();
    if (start >= rereadAt) {
      known.readAnew();
      rereadAt = start + every;
    }
    spared.clear();
    const look = await lookAround(reader, known, spared);
    took = clock.now() - start;
    if (look === undefined || context.signal.aborted) continue;
    yield* readDue(reader, known, spared, look.due);
    yield* dropVanished(reader, known, look.vanished);
  }
}

interface LookAround {
  readonly due: readonly string[];
  readonly vanished: readonly string[];
}

/** @returns nothing when the root cannot be listed now: a drive that is away has lost no document */
async function lookAround(
  { folder, context, report }: Reader,
  known: KnownFiles,
  spared: ReadonlySet<string>,
): Promise<LookAround | undefined> {
  const due: string[] = [];
  known.beginLook();
  try {
    for await (const block of listFiles(folder, report, context.signal))
      for (let at = 0; at < block.length && !context.signal.aborted; at += 64) {
        const paths = block.slice(at, at + 64);
        const looks = await Promise.all(paths.map((path) => lookAt(folder, path)));
        for (const [index, path] of paths.entries()) {
          const look = looks[index];
          if (look !== undefined && known.see(path, look.stamp)) due.push(path);
        }
      }
  } catch (error) {
    if (!(error instanceof MillraceError) || error.code !== 'source_unavailable') throw error;
    report.notify({
      level: 'warn',
      code: 'root_unavailable',
      message: `${error.message} Nothing is deleted.`,
    });
    return undefined;
  }
  return context.signal.aborted ? undefined : { due, vanished: known.vanished(spared) };
}

async function* readDue(
  reader: Reader,
  known: KnownFiles,
  spared: Set<string>,
  due: readonly string[],
): AsyncGenerator<Delivery> {
  const { context } = reader;
  const texts = due.filter((path) => !isJsonLines(path));
  yield* readFiles(reader, [texts]);
  for (const path of due.filter(isJsonLines)) {
    if (context.signal.aborted) return;
    const prefix = `${path}/`;
    const since = await context.passStart();
    const failedBefore = known.hasFailed(path);
    spared.delete(prefix);
    yield* readFiles(reader, [[path]]);
    if (context.signal.aborted) return;
    if (!spared.has(prefix)) yield { kind: 'complete', scope: { prefix, except: [], since } };
    if (failedBefore && !known.hasFailed(path)) yield* deletions(reader, [path]);
  }
}

async function* dropVanished(
  reader: Reader,
  known: KnownFiles,
  vanished: readonly string[],
): AsyncGenerator<Delivery> {
  const { context, folder } = reader;
  if (isMassDeletion(vanished.length, known.size) && !context.allowMassDeletion)
    throw new MillraceError(
      'mass_deletion',
      `${vanished.length} of ${known.size} files under ${folder.root} vanished at once; nothing was deleted.`,
      { hint: 'Bring the files back, or allow mass deletion when they are meant to be gone.' },
    );
  for (const path of vanished.filter(isJsonLines)) {
    const since = await context.passStart();
    if ((await lookAt(folder, path)) !== undefined) continue;
    const failedBefore = known.hasFailed(path);
    known.forget(path);
    yield { kind: 'complete', scope: { prefix: `${path}/`, except: [], since } };
    if (failedBefore) yield* deletions(reader, [path]);
  }
  const texts = vanished.filter((path) => !isJsonLines(path));
  for (let at = 0; at < texts.length && !context.signal.aborted; at += deliveryElements) {
    const ids = texts.slice(at, at + deliveryElements);
    const versions = await context.observe(ids);
    // As with contents: gone under a version is what was gone when the version was given.
    const looks = await Promise.all(ids.map((path) => lookAt(folder, path)));
    const elements = ids
      .map((id, index) => ({ kind: 'deletion' as const, id, version: versions[index]! }))
      .filter((_, index) => looks[index] === undefined);
    for (const { id } of elements) known.forget(id);
    if (elements.length > 0)
      yield deliveryOf(
        elements,
        elements.map(({ id }) => id),
        reader.report,
      );
  }
}

async function* deletions({ context, report }: Reader, ids: readonly string[]): AsyncGenerator<Delivery> {
  const versions = await context.observe(ids);
  const elements = ids.map((id, at) => ({ kind: 'deletion' as const, id, version: versions[at]! }));
  yield deliveryOf(elements, ids, report);
}
