import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** `up` from the client to the service, `down` the answers. */
export type Direction = 'up' | 'down';

/** A loopback port that leads to a real service, and what can go wrong on the way. */
export interface TcpProxy {
  readonly port: number;
  /** The same address, by way of the proxy. */
  through(url: string): string;
  /** Connections that are open. */
  readonly open: number;
  /** Connections that were ever made. */
  readonly made: number;
  /** Every piece of data waits so long, until told otherwise; 0 lets it pass. */
  delay(ms: number): void;
  /** Resets every open connection. New ones pass. */
  cut(): void;
  /** Resets the next connection that sends so many bytes in this direction from now on, in the middle of what it sends. */
  cutAfter(bytes: number, direction: Direction): void;
  /** Swallows what the next such connection sends after so many bytes, and tells nobody. It stays dead for good. */
  blackHoleAfter(bytes: number, direction: Direction): void;
  /** Changes what the service answers, on open connections and on those that are made. */
  alter(change: (data: Buffer) => Buffer): void;
  /**
   * Swallows what is sent, and tells nobody, on open connections and on those that are made until `heal`. A connection
   * that was swallowed from stays dead for good, as one that a firewall has forgotten.
   * @param direction one way only: with `down` requests take effect and their answers are lost. Default: both
   */
  blackHole(direction?: Direction): void;
  /** New connections are reset at once. Open ones stay. */
  refuse(): void;
  /** New connections pass, without delay. */
  heal(): void;
  stop(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly service: Socket;
  readonly dead: Set<Direction>;
}

interface Cut {
  readonly direction: Direction;
  readonly bytes: number;
  readonly silent: boolean;
}

/** @param target port of the service, on loopback */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const links = new Set<Link>();
  const holes = new Set<Direction>();
  let [delayMs, made, refusing] = [0, 0, false];
  let cutting: Cut | undefined;
  let change = (data: Buffer) => data;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => undefined);
    if (refusing) return void client.resetAndDestroy();
    made += 1;
    const service = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const link: Link = { client: client.setNoDelay(), service, dead: new Set(holes) };
    links.add(link);
    // A service that is down refuses: so does the proxy.
    service.on('error', () => undefined);
    pass(link, 'up', client, service);
    pass(link, 'down', service, client);
    client.on('close', () => {
      links.delete(link);
      service.resetAndDestroy();
    });
    // A swallowed connection keeps the client in the dark about its end.
    service.on('close', () => {
      if (link.dead.size === 0) client.resetAndDestroy();
    });
  });

  function pass(link: Link, direction: Direction, from: Socket, to: Socket): void {
    let [waiting, last] = [0, Promise.resolve()];
    // Behind what still waits, whatever the delay is by now.
    const inTurn = (send: () => void) => {
      if (delayMs === 0 && waiting === 0) return send();
      waiting += 1;
      last = Promise.all([last, delay(delayMs)]).then(() => {
        waiting -= 1;
        send();
      });
    };
    from.on('data', (sent: Buffer) => {
      if (link.dead.has(direction)) return;
      const data = direction === 'down' ? change(sent) : sent;
      const cut = cutWithin(direction, data.length);
      // What is sent before its own cut passes.
      const mayPass = () => cut !== undefined || !link.dead.has(direction);
      inTurn(() => mayPass() && write(link, to, data, cut));
      if (cut?.silent === true) link.dead.add(direction);
    });
    from.on('end', () => {
      if (!link.dead.has(direction)) inTurn(() => to.end());
    });
  }

  function cutWithin(direction: Direction, length: number): Cut | undefined {
    if (cutting?.direction !== direction) return undefined;
    const cut = cutting;
    cutting = cut.bytes > length ? { ...cut, bytes: cut.bytes - length } : undefined;
    return cutting === undefined ? cut : undefined;
  }

  function write(link: Link, to: Socket, data: Buffer, cut: Cut | undefined): void {
    if (to.destroyed) return;
    if (cut === undefined) to.write(data);
    else if (cut.silent) to.write(data.subarray(0, cut.bytes));
    else to.write(data.subarray(0, cut.bytes), () => reset(link));
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    through(url) {
      const changed = new URL(url);
      changed.port = String(port);
      return changed.href;
    },
    get open() {
      return links.size;
    },
    get made() {
      return made;
    },
    delay: (ms) => void (delayMs = ms),
    cut: () => links.forEach(reset),
    cutAfter: (bytes, direction) => void (cutting = { bytes, direction, silent: false }),
    blackHoleAfter: (bytes, direction) => void (cutting = { bytes, direction, silent: true }),
    alter: (given) => void (change = given),
    blackHole(direction) {
      for (const one of direction === undefined ? (['up', 'down'] as const) : [direction]) {
        holes.add(one);
        for (const { dead } of links) dead.add(one);
      }
    },
    refuse: () => void (refusing = true),
    heal() {
      holes.clear();
      [delayMs, refusing, cutting] = [0, false, undefined];
    },
    async stop() {
      server.close();
      links.forEach(reset);
      await once(server, 'close');
    },
  };
}

function reset({ client, service }: Link): void {
  client.resetAndDestroy();
  service.resetAndDestroy();
}
