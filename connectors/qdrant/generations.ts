import type { Generations, GenerationView } from '../../src/contracts/generations.js';
import type { StoreLayout } from '../../src/contracts/store.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { claimBehind, countBehind, noteUnlessNoted, settleBehind } from './behind.js';
import { differing, pages } from './differing.js';
import { createGenerationList, type GenerationListParts } from './generation-list.js';
import { createGenerationSwitch, type GenerationSwitchParts } from './generation-switch.js';
import { alteredHead, firstHead, keptSince, withoutGeneration, type GenerationEdit } from './head-changes.js';
import { prepareBehind } from './layout.js';
import type { Place } from './places.js';
import { readDocuments } from './read-documents.js';
import { removeGeneration } from './remove-generation.js';
import { settleOpen } from './settle-open.js';

export interface QdrantGenerationsParts extends GenerationListParts, GenerationSwitchParts {
  readonly pipeline: string;
  view(number: number): GenerationView;
  /** Removes kept texts that count no more. */
  sweepTexts(signal?: AbortSignal): Promise<void>;
  /** Makes the collections of a generation. */
  make(number: number, layout: StoreLayout): Promise<void>;
}

/** @see docs/design.md, Generations on Qdrant */
export function createQdrantGenerations(parts: QdrantGenerationsParts): Generations {
  const { port, heads, places, pipeline, clock, tell, view, known, make } = parts;

  async function activePlace(signal?: AbortSignal): Promise<Place> {
    const place = await places.active(signal);
    if (place !== undefined) return place;
    throw nothingYet(pipeline);
  }

  /** @returns the head as it is then, unless `edit` gave nothing */
  const alter = (number: number, edit: GenerationEdit, signal?: AbortSignal) =>
    heads.change((head) => head && alteredHead(head, number, edit), signal);

  const behindParts = async (number: number, signal?: AbortSignal) => {
    const { names } = await activePlace(signal);
    return { port, names: places.names(number), ledger: names.ledger, pipeline, clock };
  };

  return {
    active: async (signal) => (await places.active(signal))?.generation,
    ...createGenerationList(parts),
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
    ...createGenerationSwitch(parts),
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
