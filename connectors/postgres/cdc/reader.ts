/** Reads the parts of a message one after the other. */
export class Reader {
  readonly bytes: Buffer;
  readonly end: number;
  at: number;

  constructor(bytes: Buffer, from: number, to: number) {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
  }

  get atEnd(): boolean {
    return this.at >= this.end;
  }

  skip(bytes: number): void {
    this.at += bytes;
  }

  byte(): number {
    return this.bytes[this.at++]!;
  }

  uint16(): number {
    this.at += 2;
    return this.bytes.readUInt16BE(this.at - 2);
  }

  uint32(): number {
    this.at += 4;
    return this.bytes.readUInt32BE(this.at - 4);
  }

  int64(): bigint {
    this.at += 8;
    return this.bytes.readBigInt64BE(this.at - 8);
  }

  uint64(): bigint {
    this.at += 8;
    return this.bytes.readBigUInt64BE(this.at - 8);
  }

  /** UTF-8 that ends with a NUL. */
  name(): string {
    const end = this.bytes.indexOf(0, this.at);
    if (end === -1) throw new Error('A name has no end.');
    const name = this.bytes.toString('utf8', this.at, end);
    this.at = end + 1;
    return name;
  }

  text(length: number): string {
    this.at += length;
    return this.bytes.toString('utf8', this.at - length, this.at);
  }
}
