import { randomUUID } from 'node:crypto';
import { uuidOf } from '../../src/elements/uuid.js';

/** The collections of a generation; that of the artifacts is for all. */
export interface CollectionNames {
  readonly chunks: string;
  readonly ledger: string;
  /** Documents of the active generation whose last change this one has yet to take over. */
  readonly behind: string;
  /** What the sources gave of its documents, where that is kept. */
  readonly texts: string;
  readonly artifacts: string;
  /** For other tools: another name for the chunks of the active generation. */
  readonly alias: string;
}

/** No name of a pipeline ends in what these end in: after `_` it has a code in hex. */
export function collectionNames(prefix: string, pipeline: string, generation = 1): CollectionNames {
  const safe = safeName(pipeline);
  // The name of a collection has at most 255 characters.
  const all = `${prefix}_${safe.length > 150 ? `${safe.slice(0, 100)}-${uuidOf(pipeline)}` : safe}`;
  const own = generation === 1 ? all : `${all}_g${generation}`;
  return {
    chunks: own,
    ledger: `${own}_ledger`,
    behind: `${own}_behind`,
    texts: `${own}_texts`,
    artifacts: `${all}_artifacts`,
    alias: `${all}_now`,
  };
}

/** The name of a space's vectors: what is no letter, digit or hyphen as its code in hex, `*` as `_2a`. */
export function vectorName(space: string): string {
  return safeName(space);
}

/** The space that a vector is named for. */
export function spaceOfVector(name: string): string {
  const hex = name.replace(
    /_([0-9a-f]{2})|[^_]/g,
    (char, code?: string) => code ?? char.charCodeAt(0).toString(16),
  );
  return Buffer.from(hex, 'hex').toString('utf8');
}

/** Different names stay different, whatever is in them. */
function safeName(name: string): string {
  return name.replace(/[^A-Za-z0-9-]/gu, (char) =>
    [...Buffer.from(char)].map((byte) => `_${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

/** The point of a document in the ledger, also the key of its chunks. */
export function documentKey(pipeline: string, documentId: string): string {
  return uuidOf(JSON.stringify([pipeline, documentId]));
}

/** The point of an artifact of a generation. */
export function artifactKey(name: string, generation = 1): string {
  return uuidOf(JSON.stringify(generation === 1 ? ['artifact', name] : ['artifact', name, generation]));
}

/** The point among the artifacts that says which generations there are. */
export const headKey = uuidOf(JSON.stringify(['head']));

/** A name for one write of one document that no other has. */
export function newWriteId(): string {
  return randomUUID();
}

/** The points of a write: its first 96 bits and their place. */
export function pointId(writeId: string, at: number): string {
  return writeId.slice(0, 28) + at.toString(16).padStart(8, '0');
}
