/** A message between processes: JSON, and bytes that it refers to by their order. */
export interface Frame {
  readonly message: unknown;
  readonly blobs: readonly Uint8Array[];
}

// Layout: length of what follows, length of the JSON, JSON, then each blob behind its length; all lengths 32 bits.
const headBytes = 8;

export function encodeFrame({ message, blobs }: Frame): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  const parts: Buffer[] = [];
  for (const blob of blobs)
    parts.push(length(blob.length), Buffer.from(blob.buffer, blob.byteOffset, blob.length));
  const rest = 4 + json.length + parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([length(rest), length(json.length), json, ...parts]);
}

/** @returns a function that takes pieces of a stream as they come and hands over each whole frame, once, in order */
export function frameReader(onFrame: (frame: Frame) => void): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;
  let wanted = headBytes;
  return (piece) => {
    pieces.push(piece);
    held += piece.length;
    while (held >= wanted) {
      const all = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      const frameBytes = 4 + all.readUInt32BE(0);
      if (all.length < frameBytes) {
        pieces = [all];
        wanted = frameBytes;
        return;
      }
      pieces = [all.subarray(frameBytes)];
      held = all.length - frameBytes;
      wanted = headBytes;
      onFrame(decodeFrame(all.subarray(0, frameBytes)));
    }
  };
}

function decodeFrame(bytes: Buffer): Frame {
  const jsonEnd = headBytes + bytes.readUInt32BE(4);
  const message: unknown = JSON.parse(bytes.toString('utf8', headBytes, jsonEnd));
  const blobs: Uint8Array[] = [];
  for (let at = jsonEnd; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at);
    // A copy: the frame's memory may be shared with the next one, and blobs are handed on to other threads.
    blobs.push(Uint8Array.from(bytes.subarray(at + 4, end)));
    at = end;
  }
  return { message, blobs };
}

function length(bytes: number): Buffer {
  const out = Buffer.allocUnsafe(4);
  out.writeUInt32BE(bytes);
  return out;
}
