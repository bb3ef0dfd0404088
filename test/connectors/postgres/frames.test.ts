import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, frameReader, type Frame } from '../../../connectors/postgres/frames.js';

describe('frames', () => {
  it('come out as they went in, however the stream cuts them', () => {
    const frame = fc.record({
      message: fc.json().map((text) => JSON.parse(text) as unknown),
      blobs: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 60 })),
        (frames, cuts) => {
          const stream = Buffer.concat(frames.map(encodeFrame));
          const seen: Frame[] = [];
          const read = frameReader((one) => seen.push(one));
          let at = 0;
          for (const bytes of [...cuts, stream.length]) {
            if (at < stream.length) read(stream.subarray(at, at + bytes));
            at += bytes;
          }
          // JSON has no negative zero.
          const plain = (list: readonly Frame[]) =>
            list.map(({ message, blobs }) => [JSON.stringify(message), ...blobs.map((blob) => [...blob])]);
          expect(plain(seen)).toEqual(plain(frames));
        },
      ),
      { seed: 3 },
    );
  });
});
