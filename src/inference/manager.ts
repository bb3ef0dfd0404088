import type { Clock } from '../contracts/context.js';
import { MillraceError } from '../errors/millrace-error.js';
import { untilAborted } from '../errors/until-aborted.js';
import { systemClock } from '../flow/system-clock.js';
import { closeModel, type CloseModelOptions } from './close-model.js';
import type { Loadable } from './loadable.js';
import { loadEntry, type Closable, type ModelEntry } from './model-entry.js';
import { noRoom } from './no-room.js';

/** One use of a loaded model. Either call ends it, once. */
export interface ModelLease<Model> {
  readonly model: Model;
  /** The model stays loaded for the next use, until its room is needed. */
  release(): void;
  /**
   * The model is not wanted any more: it is closed when its last use ends. Resolves once this use has ended, and the model
   * with it where it was the last: also one that could not be closed, which is told by a notice.
   */
  retire(): Promise<void>;
}

export interface AcquireOptions {
  /** Waits until uses end when there is no room. Default: refuses at once. */
  readonly wait?: boolean;
  /** Never evicted from now on, however long nobody uses it. Default false. */
  readonly pin?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Keeps models loaded: one for all who ask for the same, within a limit. Where a new one has no room, those that nobody
 * uses are closed, the least recently used first; one in use never is.
 */
export interface ModelManager {
  /**
   * Loads the model unless it is loaded, or being loaded, already.
   * @throws MillraceError `resources_insufficient` when there is no room for it; what `load` throws, to all who wait for
   * it, and nothing is left behind; what `stage` throws; the signal's reason
   */
  acquire<Model extends Closable>(
    loadable: Loadable<Model>,
    options?: AcquireOptions,
  ): Promise<ModelLease<Model>>;
  /** Whether `acquire` would load it now, perhaps in place of models that nobody uses. */
  hasRoomFor(loadable: Loadable<unknown>): boolean;
  /** Uses of what such a loadable loads, now. */
  uses(loadable: Loadable<unknown>): number;
  /** What is loaded or being loaded, the least recently used first. */
  readonly loaded: readonly LoadedModel[];
  /** Refuses new uses and closes every model, used or not. One that cannot be closed is told by a notice. */
  close(): Promise<void>;
}

export interface LoadedModel {
  readonly name: string;
  readonly bytes: number;
  readonly uses: number;
  readonly pinned: boolean;
}

export interface ModelManagerOptions extends ModelLimits {
  /** Default: the machine's own. */
  readonly clock?: Clock | undefined;
  readonly onNotice?: CloseModelOptions['onNotice'];
}

export interface ModelLimits {
  /** Bytes of all loaded models together. Default: no limit. */
  readonly maxBytes?: number | undefined;
  /** Models loaded at once. Default: no limit. */
  readonly maxModels?: number | undefined;
}

export function createModelManager({
  maxBytes = Infinity,
  maxModels = Infinity,
  clock = systemClock,
  onNotice,
}: ModelManagerOptions = {}): ModelManager {
  /** The least recently used first. */
  const entries = new Map<string, ModelEntry>();
  let wake: () => void = () => undefined;
  let changed = new Promise<void>((resolve) => (wake = resolve));
  let closed: Promise<void> | undefined;

  function tellChange() {
    wake();
    changed = new Promise<void>((resolve) => (wake = resolve));
  }

  const fitsBeside = ({ bytes }: Loadable<unknown>, others: readonly ModelEntry[]) =>
    others.length < maxModels &&
    others.reduce((sum, { loadable }) => sum + loadable.bytes, bytes) <= maxBytes;
  const isIdle = ({ uses, pinned, closing }: ModelEntry) => uses === 0 && !pinned && closing === undefined;

  async function acquire<Model extends Closable>(
    loadable: Loadable<Model>,
    { wait = false, pin = false, signal = new AbortController().signal }: AcquireOptions = {},
  ): Promise<ModelLease<Model>> {
    if (loadable.stage !== undefined) await loadable.stage(signal);
    for (;;) {
      signal.throwIfAborted();
      if (closed !== undefined) throw managerClosed();
      const there = entries.get(loadable.key);
      if (there?.closing !== undefined) await untilAborted(there.closing, signal);
      // Its error would be that of whoever gave it up.
      else if (there?.giveUp.signal.aborted === true && !there.settled)
        await untilAborted(
          there.model.catch(() => undefined),
          signal,
        );
      else if (there !== undefined) return use<Model>(there, pin, signal);
      else if (fitsBeside(loadable, [...entries.values()])) return use<Model>(start(loadable), pin, signal);
      else if (hasRoomFor(loadable)) {
        const idle = [...entries.values()].find(isIdle);
        await untilAborted(idle === undefined ? changed : unload(idle), signal);
      } else if (wait && fitsBeside(loadable, [])) await untilAborted(changed, signal);
      else throw noRoom(loadable, loaded(), { maxBytes, maxModels });
    }
  }

  /** Those that nobody uses make room, and those that are closed already. */
  function hasRoomFor(loadable: Loadable<unknown>): boolean {
    const staying = [...entries.values()].filter((entry) => entry.closing === undefined && !isIdle(entry));
    return staying.some(({ loadable: { key } }) => key === loadable.key) || fitsBeside(loadable, staying);
  }

  function loaded(): LoadedModel[] {
    return [...entries.values()].map(({ loadable: { name, bytes }, uses, pinned }) => ({
      name,
      bytes,
      uses,
      pinned,
    }));
  }

  function start(loadable: Loadable<Closable>): ModelEntry {
    const entry = loadEntry(loadable);
    entries.set(loadable.key, entry);
    entry.model.catch(() => forget(entry));
    return entry;
  }

  function forget(entry: ModelEntry) {
    if (entries.get(entry.loadable.key) === entry) entries.delete(entry.loadable.key);
    tellChange();
  }

  async function use<Model>(
    entry: ModelEntry,
    pin: boolean,
    signal: AbortSignal,
  ): Promise<ModelLease<Model>> {
    entry.uses += 1;
    entry.retired = false;
    entry.pinned ||= pin;
    touch(entry);
    let over = false;
    const end = async () => {
      if (!over) {
        over = true;
        entry.uses -= 1;
        touch(entry);
        tellChange();
      }
      if (entry.retired && entry.uses === 0) await unload(entry);
    };
    try {
      const model = (await untilAborted(entry.model, signal)) as Model;
      if (closed !== undefined) throw managerClosed();
      return {
        model,
        release: () => void end(),
        retire: () => {
          entry.retired = true;
          entry.pinned = false;
          return end();
        },
      };
    } catch (error) {
      void end();
      if (entry.uses === 0) entry.giveUp.abort(signal.reason);
      throw error;
    }
  }

  function touch(entry: ModelEntry) {
    if (entries.get(entry.loadable.key) !== entry) return;
    entries.delete(entry.loadable.key);
    entries.set(entry.loadable.key, entry);
  }

  function unload(entry: ModelEntry): Promise<void> {
    const { name } = entry.loadable;
    entry.closing ??= entry.model
      .then((model) => closeModel(model, { name, clock, onNotice }))
      .finally(() => forget(entry));
    return entry.closing;
  }

  return {
    acquire,
    hasRoomFor,
    uses: ({ key }) => entries.get(key)?.uses ?? 0,
    get loaded() {
      return loaded();
    },
    close() {
      closed ??= (async () => {
        tellChange();
        const ends = [...entries.values()].map(async (entry) => {
          entry.giveUp.abort(managerClosed());
          // A load that fails now leaves nothing to close.
          if (
            await entry.model.then(
              () => true,
              () => false,
            )
          )
            await unload(entry);
        });
        await Promise.all(ends);
      })();
      return closed;
    },
  };
}

function managerClosed(): MillraceError {
  return new MillraceError('aborted', 'The model manager is closed.');
}
