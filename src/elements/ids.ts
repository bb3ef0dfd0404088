import { uuidLength, uuidNamespace, uuidOfBytes } from './uuid.js';

/** Bytes that a hash and an occurrence take at most. */
const mostOwn = 128;

/** The ids of a pipeline's chunks: UUIDv5 of `[pipeline, document id, hash, occurrence]` as JSON. */
export class ChunkIds {
  readonly #pipeline: string;
  /** The namespace, and after it the name that was made last. */
  #bytes: Buffer;
  #named: Buffer;
  readonly #uuid = Buffer.alloc(uuidLength);
  #documentId: string | undefined;
  /** Where in the name the parts begin that are not those of the last one. */
  #beforeDocument = 0;
  #beforeHash = 0;

  constructor(pipeline: string) {
    this.#pipeline = `[${JSON.stringify(pipeline)},`;
    this.#bytes = this.#named = this.#reserve(0);
  }

  /**
   * @param hash of the chunk's embedded text, hex
   * @param occurrence how many earlier chunks of the document have this hash, from 0
   */
  of(documentId: string, hash: string, occurrence: number): string {
    if (documentId !== this.#documentId) this.#turnTo(documentId);
    const length =
      this.#beforeHash + this.#bytes.write(`${hash}",${occurrence}]`, this.#beforeHash, 'latin1');
    if (this.#named.length !== length) this.#named = this.#bytes.subarray(0, length);
    return uuidOfBytes(this.#named, this.#uuid);
  }

  #turnTo(documentId: string): void {
    const shared = `${JSON.stringify(documentId)},"`;
    const most = this.#beforeDocument + shared.length * 3 + mostOwn;
    if (most > this.#bytes.length) this.#bytes = this.#named = this.#reserve(most);
    this.#beforeHash = this.#beforeDocument + this.#bytes.write(shared, this.#beforeDocument);
    this.#documentId = documentId;
  }

  #reserve(bytes: number): Buffer {
    const made = Buffer.alloc(uuidNamespace.length + this.#pipeline.length * 3 + bytes + 1_024);
    made.set(uuidNamespace);
    this.#beforeDocument = uuidNamespace.length + made.write(this.#pipeline, uuidNamespace.length);
    return made;
  }
}
