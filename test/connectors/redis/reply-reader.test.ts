import { ReplyError } from 'ioredis';
import { expect, test } from 'vitest';
import { ReplyReader, type Reply } from '../../../connectors/redis/reply-reader.js';
import { processorMs } from '../../support/processor-ms.js';

const wire = [
  '+OK\r\n',
  ':-42\r\n:1234567890123\r\n',
  '$5\r\nhello\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n',
  '*2\r\n*2\r\n$3\r\n1-0\r\n*4\r\n$2\r\nid\r\n$1\r\na\r\n$4\r\ntext\r\n$12\r\nGrüße \u{1F600}\r\n*2\r\n$3\r\n2-0\r\n*-1\r\n',
  '*3\r\n+QUEUED\r\n-ERR no such key\r\n:7\r\n',
  '-NOGROUP No such group\r\n',
].join('');

const replies = [
  'OK',
  -42,
  1_234_567_890_123,
  'hello',
  '',
  null,
  null,
  [],
  [
    ['1-0', ['id', 'a', 'text', 'Grüße \u{1F600}']],
    ['2-0', null],
  ],
  ['QUEUED', new ReplyError('ERR no such key') as Error, 7],
  new ReplyError('NOGROUP No such group') as Error,
];

function read(bytes: Buffer, pieces: number): Reply[] {
  const told: Reply[] = [];
  const reader = new ReplyReader((reply) => told.push(reply));
  for (let from = 0; from < bytes.length; from += pieces) reader.push(bytes.subarray(from, from + pieces));
  return told;
}

test.each([1, 2, 3, 7, 64, 10_000])('reads every kind of reply from pieces of %d bytes', (pieces) => {
  const told = read(Buffer.from(wire), pieces);
  expect(told).toEqual(replies);
  expect((told.at(-1) as Error).name).toBe('ReplyError');
});

test('texts of the same length and ends are told apart', () => {
  const words = ['abc', 'aXc', 'abc', 'a\rc', 'aXc', 'a'.repeat(16), `a${'b'.repeat(14)}a`, 'a'.repeat(16)];
  const told = read(Buffer.from(words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')), 1_000);
  expect(told).toEqual(words);
});

test('a long text in many pieces is put together once', () => {
  const text = 'x'.repeat(2_000_000);
  const bytes = Buffer.from(`*1\r\n$${text.length}\r\n${text}\r\n+OK\r\n`);
  let told: Reply[] = [];
  const ms = processorMs(() => (told = read(bytes, 1_000)));
  expect(told).toEqual([[text], 'OK']);
  // Two thousand times two megabytes would take half a second at least.
  expect(ms).toBeLessThan(400);
});

test('bytes that are no reply are refused', () => {
  expect(() => read(Buffer.from('HTTP/1.1 400 Bad Request\r\n'), 1_000)).toThrow(/byte 72/);
  expect(() => read(Buffer.from('*1\r\n$1x\r\n'), 1_000)).toThrow(/byte 120/);
});
