import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/contracts/context.js';
import type { Generation, Generations, GenerationView } from '../../src/contracts/generations.js';
import type { StoreCount, StoreLayout } from '../../src/contracts/store.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { repairAlias } from './alias.js';
import { claimBehind, countBehind, noteUnlessNoted, settleBehind } from './behind.js';
import { differing, pages } from './differing.js';
import { followersOf, type Head, type HeadGeneration, type HeadStore } from './head.js';
import { firstHead, keptSince, resumedHead, switchedHead, withoutGeneration } from './head-changes.js';
import { prepareBehind } from './layout.js';
import type { Place, Places } from './places.js';
import type { QdrantPort } from './port.js';
import { readDocuments } from './read-documents.js';
import { removeGeneration } from './remove-generation.js';
import type { Tell } from './settle.js';
import { settleOpen } from './settle-open.js';

export interface QdrantGenerationsParts {
  readonly port: QdrantPort;
  readonly heads: HeadStore;
  readonly places: Places;
  readonly pipeline: string;
  readonly clock: Clock;
  /** Tells the followers of a generation, as the head is then. */
  tell(place: Place): Tell;
  view(number: number): GenerationView;
  count(place: Place | undefined): Promise<StoreCount>;
  /** Every writer knows of this epoch, or does not write. */
  known(epoch: number, until?: () => boolean, signal?: AbortSignal): Promise<void>;
  /** Removes kept texts that count no more. */
  sweepTexts(signal?: AbortSignal): Promise<void>;
  /** Makes the collections of a generation. */
  make(number: number, layout: StoreLayout): Promise<void>;
}

/** A generation that is being made for so long was given up. */
const madeWithinMs = 600_000;

/** @see docs/design.md, Generations on Qdrant */
export function createQdrantGenerations(parts: QdrantGenerationsParts): Generations {
  const { port, heads, places, pipeline, clock, tell, view, count, known, make } = parts;
  /** Ours, and until when a switch can count on it. */
  let paused: { readonly id: string; readonly until: number } | undefined;

  async function activePlace(signal?: AbortSignal): Promise<Place> {
    const place = await places.active(signal);
    if (place !== undefined) return place;
    throw nothingYet(pipeline);
  }

  /** Changes one generation of the head. @returns whether it was there to be changed */
  async function alter(
    number: number,
    edit: (one: HeadGeneration, head: Head) => HeadGeneration | undefined,
    signal?: AbortSignal,
  ): Promise<Head | undefined> {
    return heads.change((head) => {
      const one = head?.generations.find((other) => other.number === number);
      const next = one && edit(one, head!);
      if (head === undefined || next === undefined) return undefined;
      const generations = head.generations.map((other) => (other === one ? next : other));
      return { ...head, epoch: head.epoch + 1, generations };
    }, signal);
  }

  async function listed(signal?: AbortSignal): Promise<readonly HeadGeneration[]> {
    if ((await places.active(signal)) === undefined) return [];
    const head = (await heads.read(signal)) ?? firstHead(0);
    return head.generations.filter(({ state, since }) => state !== 'making' || abandoned(since));
  }

  const abandoned = (since: number) => since + madeWithinMs < clock.now();
  const behindParts = async (number: number, signal?: AbortSignal) => {
    const { names } = await activePlace(signal);
    return { port, names: places.names(number), ledger: names.ledger, pipeline, clock };
  };

  return {
    active: async (signal) => (await places.active(signal))?.generation,
    others: async (signal) =>
      (await listed(signal))
        .filter(({ state }) => state !== 'active')
        .map(({ number, state, since }) => ({ number, state: shownState(state), since })),
    list: async (signal) => {
      const found: Generation[] = [];
      for (const { number, state, since } of await listed(signal)) {
        const place = await places.at(number, signal);
        const follows = state === 'listing' || state === 'filling' || state === 'retired';
        const behind = follows
          ? await countBehind({ port, names: places.names(number), clock }, signal)
          : undefined;
        found.push({
          number,
          state: shownState(state),
          spaces: place?.spaces ?? [],
          count: await count(place),
          behind: behind?.documents ?? 0,
          since,
        });
      }
      return found;
    },
    view,
    start: async (layout, chain) => {
      await activePlace();
      // The number is taken first, so that nobody else makes collections of these names.
      const taken = await heads.change((head = firstHead(clock.now())) => {
        const number = head.last + 1;
        const made = { number, state: 'making', since: clock.now(), from: head.epoch } as const;
        return { ...head, last: number, generations: [...head.generations, made] };
      });
      const number = taken!.last;
      await make(number, layout);
      await prepareBehind(port, places.names(number), clock);
      await view(number).artifacts.insert('chain', chain);
      const done = await alter(number, (one, { epoch }) =>
        one.state === 'making'
          ? { ...one, state: 'listing', since: clock.now(), from: epoch + 1 }
          : undefined,
      );
      if (done !== undefined) return number;
      throw notBeside(pipeline, number);
    },
    enlist: async (number, signal) => {
      const one = (await heads.read(signal))?.generations.find((other) => other.number === number);
      if (one?.state !== 'listing') return;
      await known(one.from, undefined, signal);
      const { names } = await activePlace(signal);
      for await (const page of pages(port, names.ledger, signal)) {
        const documents = page.map(({ id, payload }) => ({
          id,
          documentId: payload['document_id'] as string,
        }));
        await noteUnlessNoted(port, places.names(number).behind, documents, signal);
      }
      await alter(
        number,
        (now) => (now.state === 'listing' ? { ...now, state: 'filling', since: clock.now() } : undefined),
        signal,
      );
    },
    claim: async (number, options, signal) => claimBehind(await behindParts(number, signal), options, signal),
    behind: (number, signal) => countBehind({ port, names: places.names(number), clock }, signal),
    read: async (ids, signal) => {
      const place = await activePlace(signal);
      const since = keptSince(await heads.read(signal));
      return readDocuments(port, place.names, pipeline, ids, tell(place), since, signal);
    },
    settle: (number, documents, signal) =>
      settleBehind({ port, names: places.names(number), pipeline }, documents, signal),
    reconcile: async (number, signal, by = 'contents') => {
      const place = await activePlace(signal);
      const { behind, ledger } = places.names(number);
      await settleOpen(port, place.names, tell(place), signal);
      let fresh = 0;
      const since = keptSince(await heads.read(signal));
      for await (const documents of differing(port, place.names.ledger, ledger, by, since, signal))
        fresh += await noteUnlessNoted(port, behind, documents, signal);
      return fresh;
    },
    pause: async (ms, signal) => {
      const [id, until] = [randomUUID(), clock.now() + ms];
      const head = await heads.change(
        (found = firstHead(clock.now())) => ({ ...found, epoch: found.epoch + 1, pause: { id, ms } }),
        signal,
      );
      paused = { id, until };
      await known(head!.epoch, () => clock.now() >= until, signal);
    },
    resume: async () => {
      paused = undefined;
      await heads.change((head) => (head?.pause === undefined ? undefined : resumedHead(head)));
    },
    switchTo: async (to, signal) => {
      const head = await heads.read(signal);
      const from = await places.active(signal);
      if (head === undefined || from === undefined || from.generation === to) return from?.generation === to;
      const ours = paused;
      const still = () => ours !== undefined && clock.now() < ours.until;
      if (!still() || !followersOf(head, from.generation).includes(to)) return false;
      const next = await places.at(to, signal);
      if (next === undefined || !(await whole(from, next))) return false;
      await prepareBehind(port, from.names, clock);
      const switched = await heads.change((found) => {
        const may = found?.active === from.generation && found.pause?.id === ours?.id && still();
        if (!may || !followersOf(found, found.active).includes(to)) return undefined;
        return switchedHead(found, to, clock.now());
      }, signal);
      if (switched === undefined) return false;
      await repairAlias(port, heads, places, signal);
      return true;
    },
    drop: async (number, signal) => {
      const left = await alter(
        number,
        (one, { active }) =>
          number === active ? undefined : { ...one, state: 'leaving', since: clock.now() },
        signal,
      );
      if (left === undefined) {
        if ((await places.active(signal))?.generation !== number) return;
        throw new MillraceError(
          'generation_moved',
          `Generation ${number} of pipeline ${JSON.stringify(pipeline)} is the active one.`,
          { hint: 'Switch to another generation first.' },
        );
      }
      // From now on nobody tells it anything.
      await known(left.epoch, undefined, signal);
      await removeGeneration(port, places.names(number), number, signal);
      await heads.change((head) => head && withoutGeneration(head, number), signal);
      await parts.sweepTexts(signal);
    },
  };

  /** Nothing is left to take over, and none of it was forgotten. Only while writers are paused. */
  async function whole(from: Place, to: Place): Promise<boolean> {
    await settleOpen(port, from.names, tell(from));
    if ((await countBehind({ port, names: to.names, clock })).documents > 0) return false;
    const [mine, theirs] = await Promise.all([count(from), count(to)]);
    return mine.documents === theirs.documents;
  }
}

/** What was begun is being filled, also before its documents are listed; what was given up while it was made is to go. */
function shownState(state: HeadGeneration['state']): Generation['state'] {
  switch (state) {
    case 'listing':
      return 'filling';
    case 'making':
      return 'leaving';
    case 'filling':
    case 'active':
    case 'retired':
    case 'leaving':
      return state;
    default:
      return state satisfies never;
  }
}

function nothingYet(pipeline: string): MillraceError {
  return new MillraceError('store_layout', `Pipeline ${JSON.stringify(pipeline)} holds nothing yet.`, {
    hint: 'Fill it first: `millrace run`.',
  });
}

function notBeside(pipeline: string, number: number): MillraceError {
  return new MillraceError(
    'generation_moved',
    `Generation ${number} of pipeline ${JSON.stringify(pipeline)} is not beside the active one any more.`,
    { hint: 'Somebody dropped it. Start again.' },
  );
}
