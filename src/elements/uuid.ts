import { hash } from 'node:crypto';

/** Namespace of Millrace's ids (RFC 9562, version 5). A constant: another value would rename every chunk. */
export const uuidNamespace: Uint8Array = Buffer.from('6d3b2ad1a5f04f0f9c0e6d696c6c7261', 'hex');

/** The UUIDv5 of a name. */
export function uuidOf(name: string): string {
  return uuidOfBytes(Buffer.concat([uuidNamespace, Buffer.from(name)]), Buffer.alloc(uuidLength));
}

/** Characters of a UUID in text form. */
export const uuidLength = 36;

/**
 * @param named the namespace, then the name in UTF-8
 * @param scratch `uuidLength` bytes that are written over: pieces of text would cost more than the hash
 */
export function uuidOfBytes(named: Uint8Array, scratch: Buffer): string {
  const hex = hash('sha1', named, 'hex');
  let from = 0;
  for (let at = 0; at < uuidLength; at += 1)
    scratch[at] = at === 8 || at === 13 || at === 18 || at === 23 ? dash : hex.charCodeAt(from++);
  scratch[14] = version5;
  scratch[19] = variants.charCodeAt(Number.parseInt(hex[16]!, 16) & 0x3);
  return scratch.toString('latin1');
}

const dash = 0x2d;
const version5 = 0x35;
/** By the two bits of the hash that stay. */
const variants = '89ab';
