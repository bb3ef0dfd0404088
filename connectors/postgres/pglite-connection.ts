import { randomInt } from 'node:crypto';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { ConnectorContext } from '../../src/contracts/context.js';
import type { SqlConnection } from './connection.js';
import { databaseExists } from './data-folder.js';
import { joinOwner } from './owner-client.js';
import { startOwner } from './owner-worker-session.js';
import type { StoreRequest, StoreResult } from './store-request.js';
import type { StoreSession } from './store-session.js';
import { untilAborted } from '../../src/errors/until-aborted.js';

/** Claimants that met each other yield and try again; this often is far beyond bad luck. */
const claimTries = 200;

/** Owners that may end under one statement: many short processes at once end one after another. */
const ownersOutlived = 20;

/**
 * A database in a folder. The first process to come owns it; the others work through the owner, and one of them takes
 * over when it ends. A statement that was under way at that moment is sent again to the next owner, a transaction fails
 * with `store_unavailable`, since it may have taken effect; the next request finds its way.
 */
export function openPgliteConnection(
  folder: string,
  { clock }: Pick<ConnectorContext, 'clock'>,
): SqlConnection {
  let current: Promise<StoreSession> | undefined;
  let closed = false;

  /** One search for the owner at a time, whoever asks; a failed or lost session is looked for anew. */
  async function session(create: boolean): Promise<StoreSession> {
    for (;;) {
      if (closed) throw new MillraceError('internal', `The store ${folder} was used after it was closed.`);
      const before = current;
      const known = await before?.catch(() => undefined);
      if (known !== undefined && !known.lost) return known;
      if (current === before) return (current = find(create));
    }
  }

  async function find(create: boolean): Promise<StoreSession> {
    for (let attempt = 0; attempt < claimTries; attempt++) {
      const joined = await joinOwner(folder);
      if (joined !== undefined) return joined;
      // A reader leaves no empty folder behind.
      if (!create && !(await databaseExists(folder))) throw noStore(folder);
      const owned = await startOwner(folder);
      if (owned !== undefined) return owned;
      await clock.sleep(randomInt(5, 100));
    }
    throw new MillraceError('store_locked', `Other processes keep claiming the store ${folder}.`);
  }

  async function send(request: StoreRequest, signal: AbortSignal | undefined): Promise<StoreResult> {
    signal?.throwIfAborted();
    return untilAborted(request.kind === 'query' ? outlive(request, signal) : ask(request), signal);
  }

  async function ask(request: StoreRequest): Promise<StoreResult> {
    return (await session(request.kind === 'create')).send(request);
  }

  async function outlive(request: StoreRequest, signal: AbortSignal | undefined): Promise<StoreResult> {
    for (let ended = 0; ; ended++) {
      const way = await session(false);
      try {
        return await way.send(request);
      } catch (error) {
        if (!way.lost || closed || ended === ownersOutlived) throw error;
        signal?.throwIfAborted();
      }
    }
  }

  return {
    create: async (signal) => {
      await send({ kind: 'create' }, signal);
    },
    query: async (statement, signal) => (await send({ kind: 'query', statement }, signal))[0]!,
    transaction: async (steps, signal) => send({ kind: 'transaction', steps }, signal),
    close: async () => {
      closed = true;
      await (await current?.catch(() => undefined))?.close();
    },
  };
}

function noStore(folder: string): MillraceError {
  return new MillraceError('store_layout', `There is no store in ${folder} yet.`, {
    hint: 'Fill it first: `millrace run`.',
  });
}
