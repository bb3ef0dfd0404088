import type { Clock } from '../../src/contracts/context.js';
import type { SpaceLayout, StoreLayout } from '../../src/contracts/store.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { QdrantConfig } from './config.js';
import { metadataPath } from './metadata-keys.js';
import { spaceOfVector, vectorName, type CollectionNames } from './names.js';
import type { CollectionSettings, CollectionState, FieldIndex, QdrantPort } from './port.js';

/** What the protocol itself looks for. */
const chunkIndexes: readonly [string, FieldIndex][] = [
  ['doc', { type: 'uuid' }],
  ['chunk_id', { type: 'uuid' }],
  ['live', { type: 'bool' }],
];
/** Counts how many chunks hold a word. */
const termsIndex: [string, FieldIndex] = ['terms', { type: 'integer', lookup: true, range: false }];
const ledgerIndexes: readonly [string, FieldIndex][] = [
  ['source', { type: 'keyword' }],
  ['state', { type: 'keyword' }],
  ['settled', { type: 'bool' }],
];

const textIndexes: readonly [string, FieldIndex][] = [
  ['doc', { type: 'uuid' }],
  ['live', { type: 'bool' }],
  // Which count no more is asked at each tuning.
  ['since', { type: 'integer', lookup: true, range: false }],
];

/** A collection that another process is making may answer with errors until it is ready. */
const readyDelaysMs = [100, 300, 1000, 3000];

/** Makes the collection of the artifacts unless it is there. */
export async function prepareArtifacts(
  port: QdrantPort,
  { artifacts }: CollectionNames,
  clock: Clock,
): Promise<void> {
  await ensure(port, artifacts, { vectors: {} }, clock);
}

/**
 * Makes what else is not there, the indexes on the payload before any point, and compares what is there.
 * @throws MillraceError `store_layout` where a collection of these names holds something else
 */
export async function prepareLayout(
  port: QdrantPort,
  names: CollectionNames,
  config: Pick<QdrantConfig, 'tenant' | 'indexes' | 'indexFrom'>,
  { spaces, terms = false }: StoreLayout,
  clock: Clock,
): Promise<void> {
  const vectors = Object.fromEntries(
    spaces.map(({ name, width }) => [vectorName(name), { size: width, distance: 'Cosine' }] as const),
  );
  const tenants = config.tenant !== undefined;
  await ensure(port, names.ledger, { vectors: {} }, clock);
  const settings = { vectors, terms, indexFrom: config.indexFrom, tenants };
  const state = await ensure(port, names.chunks, settings, clock);
  checkSpaces(names.chunks, state, spaces);
  if (terms && !state.terms)
    throw foreign(names.chunks, 'it was made without words, and the chain keeps them');
  if (state.indexFrom !== config.indexFrom) await port.indexFrom(names.chunks, config.indexFrom);
  for (const [field, kind] of ledgerIndexes) await port.index(names.ledger, field, kind);
  for (const [field, kind] of [...chunkIndexes, ...(terms ? [termsIndex] : []), ...metadataIndexes(config)])
    await port.index(names.chunks, field, kind);
}

/** Makes the collection of what a generation is behind in unless it is there. */
export async function prepareBehind(
  port: QdrantPort,
  { behind }: CollectionNames,
  clock: Clock,
): Promise<void> {
  await ensure(port, behind, { vectors: {} }, clock);
  await port.index(behind, 'until', { type: 'integer', lookup: false, range: true });
}

/** Makes the collection of what the sources gave unless it is there. */
export async function prepareTexts(
  port: QdrantPort,
  { texts }: CollectionNames,
  clock: Clock,
): Promise<void> {
  await ensure(port, texts, { vectors: {} }, clock);
  for (const [field, kind] of textIndexes) await port.index(texts, field, kind);
}

export interface FoundLayout {
  readonly spaces: readonly SpaceLayout[];
  /** Chunks carry their words. */
  readonly terms: boolean;
}

/** What a pipeline was prepared for; undefined where nobody prepared it. */
export async function readLayout(
  port: QdrantPort,
  names: CollectionNames,
  signal?: AbortSignal,
): Promise<FoundLayout | undefined> {
  const state = await port.describe(names.chunks, signal);
  if (state === undefined) return undefined;
  if (state.vectors === undefined) throw foreign(names.chunks, 'it holds one vector without a name');
  const spaces = [...state.vectors].map(([name, { size }]) => ({ name: spaceOfVector(name), width: size }));
  return { spaces, terms: state.terms };
}

async function ensure(
  port: QdrantPort,
  collection: string,
  settings: CollectionSettings,
  clock: Clock,
): Promise<CollectionState> {
  const there = await port.describe(collection);
  if (there !== undefined) return there;
  await port.create(collection, settings);
  for (const delay of readyDelaysMs) {
    try {
      const made = await port.describe(collection);
      if (made !== undefined) return made;
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'store_unavailable') throw error;
    }
    await clock.sleep(delay);
  }
  throw new MillraceError(
    'store_unavailable',
    `The collection ${collection} was made and cannot be read yet.`,
  );
}

function checkSpaces(collection: string, { vectors }: CollectionState, spaces: readonly SpaceLayout[]): void {
  if (vectors === undefined) throw foreign(collection, 'it holds one vector without a name');
  const found = [...vectors].map(
    ([name, { size, distance }]) => `${spaceOfVector(name)}: ${size} ${distance}`,
  );
  const wanted = spaces.map(({ name, width }) => `${name}: ${width} Cosine`);
  if (found.sort().join('\n') !== wanted.sort().join('\n'))
    throw foreign(
      collection,
      `it holds vectors [${found.join(', ')}], the pipeline needs [${wanted.join(', ')}]`,
    );
}

function foreign(collection: string, what: string): MillraceError {
  return new MillraceError('store_layout', `The collection ${collection} does not fit: ${what}.`, {
    hint: 'Give the pipeline another `name` or the sink another `prefix`, or delete the collections of the old one.',
  });
}

function metadataIndexes({
  tenant,
  indexes,
}: Pick<QdrantConfig, 'tenant' | 'indexes'>): [string, FieldIndex][] {
  const types = { keyword: 'keyword', number: 'float', boolean: 'bool' } as const;
  const path = (field: string) => metadataPath(field.split('.'));
  return [
    ...(tenant === undefined
      ? []
      : [[path(tenant), { type: 'keyword', is_tenant: true }] as [string, FieldIndex]]),
    ...Object.entries(indexes)
      .filter(([field]) => field !== tenant)
      .map(([field, kind]): [string, FieldIndex] => [path(field), { type: types[kind] }]),
  ];
}
