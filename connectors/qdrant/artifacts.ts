import type { Artifacts } from '../../src/contracts/artifacts.js';
import { canonicalJson } from '../../src/elements/canonical-json.js';
import type { Json } from '../../src/elements/metadata.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { artifactKey, type CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';
import { compareAndSet, type Revision } from './revision.js';

interface Found extends Revision {
  readonly value: Json;
}

/**
 * What a generation must remember, as points without vectors; values as JSON texts, which keep their form. Those of the
 * first one are also what the pipeline remembers, whatever the generation.
 */
export function qdrantArtifacts(
  port: QdrantPort,
  { artifacts }: CollectionNames,
  generation: () => Promise<number>,
): Artifacts {
  async function find(name: string): Promise<Found | undefined> {
    const fields = { payload: ['json', 'rev', 'past'] };
    const [point] = await port.retrieve(artifacts, [artifactKey(name, await generation())], fields);
    if (point === undefined) return undefined;
    const { json, rev, past } = point.payload as unknown as { json: string } & Revision;
    return { value: JSON.parse(json) as Json, rev, past };
  }

  async function set(name: string, base: Revision | undefined, value: Json): Promise<boolean> {
    const number = await generation();
    const payload = { name, generation: number, json: JSON.stringify(value) };
    const [won] = await compareAndSet(port, artifacts, [{ id: artifactKey(name, number), base, payload }]);
    return won !== undefined;
  }

  return {
    read: async (name) => {
      try {
        return (await find(name))?.value;
      } catch (error) {
        // Nobody prepared this store yet, so it remembers nothing.
        if (error instanceof MillraceError && error.code === 'store_layout') return undefined;
        throw error;
      }
    },
    insert: async (name, value) => {
      if (await set(name, undefined, value)) return value;
      return (await find(name))!.value;
    },
    replace: async (name, expected, value) => {
      for (;;) {
        const found = await find(name);
        const same =
          expected === undefined || found === undefined
            ? found === expected
            : canonicalJson(found.value) === canonicalJson(expected);
        if (!same) return false;
        // Who was first may have put the same value again: it is looked at once more.
        if (await set(name, found, value)) return true;
      }
    },
  };
}
