import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/flow/system-clock.js';
import { createInferenceServer, type InferenceServer } from '../../../src/inference/server/create-server.js';
import type { ServerEvent } from '../../../src/observability/server-events.js';

let server: InferenceServer;
let client: Socket;
/** All that the server has sent. */
let received: string;
let closed: boolean;
let events: ServerEvent[];
/** By text, what lets its vector be made. */
let gates: Map<string, () => void>;

beforeEach(async () => {
  events = [];
  gates = new Map();
  server = createInferenceServer({
    models: new Map([
      ['gated', { modelId: '', width: 1, maxTokens: { document: 9, query: 9 }, tokenize, embed }],
    ]),
    queue: { texts: 8, bytes: 100_000 },
    request: { texts: 6, bytes: 5_000 },
    clock: systemClock,
    report: (event) => events.push(event as ServerEvent),
    metrics: async () => ({ contentType: 'text/plain', text: '' }),
  });
  const url = new URL(await server.listen('127.0.0.1', 0));
  server.ready();
  [received, closed] = ['', false];
  client = connect(Number(url.port), url.hostname);
  client.on('data', (part) => (received += String(part)));
  client.on('error', () => undefined);
  client.on('close', () => (closed = true));
});
afterEach(async () => {
  client.destroy();
  await server.abort();
});

async function tokenize(texts: readonly string[]) {
  return texts.map(() => Int32Array.of(1));
}

/** Of a text that is a number that number at once; others wait for their gate. */
async function embed(texts: readonly { readonly text: string }[]) {
  const [{ text }] = texts as [{ text: string }];
  if (!/^\d/.test(text)) await new Promise<void>((open) => gates.set(text, open));
  return [Float32Array.of(parseFloat(text) || 0.5)];
}

function requestFor(input: string, headers = ''): string {
  const body = JSON.stringify({ model: 'gated', input });
  return `POST /v1/embeddings HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`;
}

const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
const vectors = () => [...received.matchAll(/"embedding":\[([\d.]+)\]/g)].map(([, vector]) => Number(vector));

describe('requests in one packet on one connection', () => {
  test('are answered in order, whichever is done first', async () => {
    client.write(requestFor('slow') + requestFor('2') + requestFor('3'));
    await expect.poll(() => events.length).toBe(2);
    expect(received).toBe('');
    gates.get('slow')!();
    await expect.poll(vectors).toEqual([0.5, 2, 3]);
    expect(server.load).toEqual({ texts: 0, bytes: 0 });
  });

  test('of a client that leaves are all noted as that, and none holds up a stop', async () => {
    client.write(requestFor('a') + requestFor('b') + requestFor('3'));
    await expect.poll(() => [...gates.keys()]).toEqual(['a', 'b']);
    client.destroy();
    await expect.poll(() => server.load.texts).toBe(2);
    await new Promise((done) => setTimeout(done, 50));
    for (const open of gates.values()) open();
    await expect.poll(() => server.load).toEqual({ texts: 0, bytes: 0 });
    expect(events.flatMap((event) => (event.type === 'request' ? [event.status] : []))).toEqual([
      200, 499, 499,
    ]);
    await server.drain();
  });

  test('are all answered by a server that drains', async () => {
    client.write(requestFor('a') + requestFor('b'));
    await expect.poll(() => [...gates.keys()]).toEqual(['a', 'b']);
    const drained = server.drain();
    gates.get('a')!();
    await expect.poll(() => vectors()).toHaveLength(1);
    gates.get('b')!();
    await drained;
    await expect.poll(() => closed).toBe(true);
    expect(statuses()).toEqual([200, 200]);
  });

  test('are all given up with their server', async () => {
    client.write(requestFor('a') + requestFor('b'));
    await expect.poll(() => [...gates.keys()]).toEqual(['a', 'b']);
    await server.abort();
    await expect.poll(() => closed).toBe(true);
    expect(statuses()[0]).toBe(503);
    expect(events).toMatchObject([{ status: 503 }, { status: 503 }]);
  });
});

describe('after a refusal', () => {
  const long = 'x'.repeat(6_000);
  test.each([
    ['of what is asked', requestFor(' '), 400],
    ['of a long body', requestFor(long), 413],
    [
      'of a long body in pieces',
      `POST /v1/embeddings HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n1770\r\n${long}\r\n0\r\n\r\n`,
      413,
    ],
    ['of the place', requestFor('1').replace('embeddings', 'nothing'), 404],
    ['of the host', requestFor('1').replace('localhost', 'evil.example'), 403],
  ])('%s the next request on its connection is answered', async (_, refused, status) => {
    client.write(refused + requestFor('2'));
    await expect.poll(vectors).toEqual([2]);
    expect(statuses()).toEqual([status, 200]);
    expect(server.load).toEqual({ texts: 0, bytes: 0 });
  });

  test('of what is no HTTP the connection is closed, with an answer', async () => {
    client.write('what is this\r\n\r\n');
    await expect.poll(() => closed).toBe(true);
    expect(statuses()).toEqual([400]);
  });
});
