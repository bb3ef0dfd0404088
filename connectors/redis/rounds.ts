import type { ElementsDelivery } from '../../src/contracts/source.js';
import type { SourceElement } from '../../src/elements/document.js';
import type { Confirmer } from './confirm.js';
import { decodeEntry, type DecodeOptions, type Entry } from './decode.js';
import type { EntryId } from './entry-id.js';
import { EntryVersions } from './entry-versions.js';
import type { Group } from './group.js';
import type { Held } from './held.js';

/** Entries that are handed over and confirmed together. */
export interface Round {
  readonly entries: readonly Entry[];
  readonly ids: readonly EntryId[];
}

export interface RoundsOptions extends Pick<DecodeOptions, 'fields' | 'maxItemBytes'> {
  readonly group: Group;
  readonly held: Held;
  readonly confirmer: Confirmer;
}

/** Entries on their way: held from when they are read to when they are confirmed. */
export class Rounds {
  readonly #options: RoundsOptions;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  hold(entries: readonly Entry[]): Round {
    const ids = entries.map(({ id }) => id);
    this.#options.held.add(ids);
    return { entries, ids };
  }

  /** Hands a round over; settled, it is confirmed. */
  deliver(
    { entries, ids }: Round,
    change: (element: SourceElement) => SourceElement = (element) => element,
  ): ElementsDelivery {
    const { fields, maxItemBytes, group, held, confirmer } = this.#options;
    const options = { fields, versions: new EntryVersions(group.epoch), maxItemBytes };
    return {
      kind: 'elements',
      elements: entries.map((entry) => change(decodeEntry(entry, options))),
      settle: async () => {
        await confirmer.confirm(ids);
        held.remove(ids);
      },
    };
  }
}
