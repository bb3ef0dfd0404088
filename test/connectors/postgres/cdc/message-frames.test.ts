import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageFrames } from '../../../../connectors/postgres/cdc/message-frames.js';

function message(body: Uint8Array): Buffer {
  const head = Buffer.alloc(5, 'd');
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

/** The messages that are told of bytes that come in pieces of these lengths, which repeat. */
function told(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const messages: Buffer[] = [];
  const frames = new MessageFrames((chunk, from, to) => messages.push(Buffer.from(chunk.subarray(from, to))));
  for (let from = 0, n = 0; from < bytes.length; n += 1) {
    const length = lengths[n % lengths.length]!;
    frames.push(bytes.subarray(from, from + length));
    from += length;
  }
  return messages;
}

test('messages are told whole and in order, however their bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 }),
      (bodies, lengths) => {
        const messages = bodies.map(message);
        expect(told(Buffer.concat(messages), lengths)).toEqual(messages);
      },
    ),
    { numRuns: 500 },
  );
});

test('a message of many chunks is told once, when its last byte is there', () => {
  const long = message(Buffer.alloc(3 << 20, 'x'));
  const short = message(Buffer.from('after'));
  expect(told(Buffer.concat([long, short]), [65_536])).toEqual([long, short]);
  expect(told(long.subarray(0, -1), [65_536])).toEqual([]);
});

test('bytes that are no messages are refused', () => {
  expect(() => told(Buffer.from('d\0\0\0\x03rest'), [2])).toThrow('3 bytes');
});
