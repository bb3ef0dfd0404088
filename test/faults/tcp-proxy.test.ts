import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../support/faults/tcp-proxy.js';

let service: Server;
let heard: string;
let proxy: TcpProxy;
const clients: Socket[] = [];

beforeEach(async () => {
  heard = '';
  // Answers whatever it hears in capitals.
  service = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
      socket.write(text.toUpperCase());
    });
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  proxy = await startTcpProxy((service.address() as AddressInfo).port);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.stop();
  service.close();
});

async function open() {
  const socket = connect(proxy.port, '127.0.0.1');
  clients.push(socket);
  let [said, ended] = ['', ''];
  socket.setEncoding('utf8').on('data', (text: string) => (said += text));
  socket.on('error', (error: NodeJS.ErrnoException) => (ended = error.code ?? 'error'));
  socket.on('close', () => (ended ||= 'closed'));
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
  return {
    send: (text: string) => socket.write(text),
    said: (text: string) => until(() => said === text),
    silent: async () => {
      const before = said;
      await delay(100);
      expect([said, ended]).toEqual([before, '']);
    },
    ended: (how: string) => until(() => ended === how),
  };
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 4_000) throw new Error('It did not happen within 20 s.');
    await delay(5);
  }
}

test('what is sent passes both ways, and an address leads through it', async () => {
  const client = await open();
  client.send('hello');
  await client.said('HELLO');
  expect([proxy.open, proxy.made]).toEqual([1, 1]);
  expect(proxy.through('redis://user:secret@localhost:1/3')).toBe(
    `redis://user:secret@localhost:${proxy.port}/3`,
  );
});

test('a delay holds both directions up, and keeps the order', async () => {
  const client = await open();
  proxy.delay(60);
  const began = performance.now();
  client.send('a');
  client.send('b');
  await client.said('AB');
  expect(performance.now() - began).toBeGreaterThanOrEqual(118);
});

test('what still waits when a delay ends goes before what comes then', async () => {
  const client = await open();
  proxy.delay(300);
  client.send('a');
  await delay(100);
  proxy.heal();
  client.send('b');
  await client.said('AB');
});

test('a cut resets what is open and lets new connections pass', async () => {
  const client = await open();
  client.send('one');
  await client.said('ONE');
  proxy.cut();
  await client.ended('ECONNRESET');
  const next = await open();
  next.send('two');
  await next.said('TWO');
});

test('a cut in the middle of what is sent lets exactly its beginning through', async () => {
  const client = await open();
  proxy.cutAfter(7, 'up');
  client.send('hello');
  await client.said('HELLO');
  client.send('world');
  await client.ended('ECONNRESET');
  expect(heard).toBe('hellowo');
});

test('a black hole swallows in silence, and what fell into it stays dead after it is healed', async () => {
  const before = await open();
  before.send('seen');
  await before.said('SEEN');
  proxy.blackHole();
  const during = await open();
  before.send('lost');
  during.send('lost');
  await before.silent();
  await during.silent();
  proxy.heal();
  before.send('still lost');
  await before.silent();
  expect(heard).toBe('seen');
  const after = await open();
  after.send('back');
  await after.said('BACK');
});

test('a black hole one way lets requests take effect whose answers are lost', async () => {
  const client = await open();
  proxy.blackHole('down');
  client.send('done');
  await client.silent();
  expect(heard).toBe('done');
});

test('it refuses while it is told to, and while the service is down', async () => {
  proxy.refuse();
  await (await open()).ended('ECONNRESET');
  proxy.heal();
  service.close();
  await (await open()).ended('ECONNRESET');
});
