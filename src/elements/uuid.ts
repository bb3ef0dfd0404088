import { hash } from 'node:crypto';

/** Namespace of Millrace's ids (RFC 9562, version 5). A constant: another value would rename every chunk. */
export const uuidNamespace: Uint8Array = Buffer.from('6d3b2ad1a5f04f0f9c0e6d696c6c7261', 'hex');

/** The UUIDv5 of a name. */
export function uuidOf(name: string): string {
  return uuidOfBytes(Buffer.concat([uuidNamespace, Buffer.from(name)]));
}

/** @param named the namespace, then the name in UTF-8 */
export function uuidOfBytes(named: Uint8Array): string {
  const hex = hash('sha1', named, 'hex');
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  // A join and no template: one string instead of the tree of parts that a store would hold on to.
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
