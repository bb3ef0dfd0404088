/** Type of a message, and the length of what follows the type: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const headBytes = 5;

/**
 * Finds the messages in the bytes of a connection. They are told in place: nothing is copied but a message that lies in
 * several chunks, and nothing of a chunk is kept but the beginning of such a one.
 */
export class MessageFrames {
  readonly #told: (bytes: Buffer, from: number, to: number) => void;
  /** Of a message that is not whole yet: its bytes, how many they are, and how many are wanted next. */
  #pieces: Buffer[] = [];
  #length = 0;
  #wanted = headBytes;

  /** @param told is called with each message, from its type on. The bytes are only valid during the call. */
  constructor(told: (bytes: Buffer, from: number, to: number) => void) {
    this.#told = told;
  }

  /** @throws Error for bytes that are no messages */
  push(chunk: Buffer): void {
    let from = this.#length > 0 ? this.#fill(chunk) : 0;
    while (from + headBytes <= chunk.length) {
      const to = endOf(chunk, from);
      if (to > chunk.length) break;
      this.#told(chunk, from, to);
      from = to;
    }
    if (from < chunk.length) this.#begin(chunk.subarray(from));
  }

  #begin(piece: Buffer): void {
    this.#pieces = [piece];
    this.#length = piece.length;
    this.#wanted = piece.length < headBytes ? headBytes : endOf(piece, 0);
  }

  /** @returns how many bytes of the chunk belong to the message that began before it */
  #fill(chunk: Buffer): number {
    let from = 0;
    while (from < chunk.length) {
      const piece = chunk.subarray(from, from + this.#wanted - this.#length);
      from += piece.length;
      this.#pieces.push(piece);
      this.#length += piece.length;
      if (this.#length < this.#wanted) break;
      const bytes = Buffer.concat(this.#pieces, this.#length);
      if (this.#length < endOf(bytes, 0)) {
        this.#begin(bytes);
        continue;
      }
      this.#pieces = [];
      this.#length = 0;
      this.#told(bytes, 0, bytes.length);
      break;
    }
    return from;
  }
}

function endOf(bytes: Buffer, from: number): number {
  const length = bytes.readUInt32BE(from + 1);
  // It counts itself.
  if (length < 4) throw new Error(`No message of Postgres says that it has ${length} bytes.`);
  return from + 1 + length;
}
