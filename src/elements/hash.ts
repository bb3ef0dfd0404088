import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import type { Document } from './document.js';

/** The first 128 bits of the SHA-256 of a text, as 32 hex characters. */
export function textHash(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

/** Hash of what a document says, text and metadata, whatever the order of its keys; its version does not count. */
export function contentHash({ text, metadata }: Pick<Document, 'text' | 'metadata'>): string {
  return hash('sha256', `${canonicalJson(metadata)}\0${text}`, 'hex').slice(0, 32);
}
