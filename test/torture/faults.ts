import { setTimeout as delay } from 'node:timers/promises';
import type { TcpProxy } from '../support/faults/tcp-proxy.js';

export const faultKinds = [
  'kill a daemon',
  'restart the source',
  'restart the store',
  'cut the source',
  'cut the store',
  'swallow the source',
  'swallow the store',
  'swallow the answers of the source',
  'swallow the answers of the store',
  'slow down the source',
  'slow down the store',
] as const;

export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  /** It strikes once so many operations are written. */
  readonly after: number;
  readonly kind: FaultKind;
  /** Chance of its own, from 0 to below 1: which daemon, how many bytes, how long. */
  readonly chance: number;
}

/** Half of them kill a daemon; the others come in turn, so that each kind comes. The same for the same chance. */
export function planFaults(operations: number, count: number, random: () => number): Fault[] {
  const others = faultKinds.slice(1);
  return Array.from({ length: count }, (_, at) => ({
    after: Math.floor(((at + 0.2 + 0.6 * random()) / count) * operations),
    kind: at % 2 === 0 ? faultKinds[0] : others[((at - 1) / 2) % others.length]!,
    chance: random(),
  }));
}

export interface FaultTargets {
  readonly source: { readonly proxy: TcpProxy; restart(): Promise<void> };
  readonly store: { readonly proxy: TcpProxy; restart(): Promise<void> };
  /** Kills one of the daemons, and starts another in its place. */
  kill(chance: number): Promise<void>;
}

/** Longer than the time-outs that the daemons are given. */
const swallowMs = 2_500;
const slowMs = 2_000;

/** Resolves when the fault is over. */
export async function strike({ kind, chance }: Fault, targets: FaultTargets): Promise<void> {
  const { source, store } = targets;
  switch (kind) {
    case 'kill a daemon':
      return targets.kill(chance);
    case 'restart the source':
      return source.restart();
    case 'restart the store':
      return store.restart();
    case 'cut the source':
      return cut(source.proxy, chance);
    case 'cut the store':
      return cut(store.proxy, chance);
    case 'swallow the source':
      return swallow(source.proxy);
    case 'swallow the store':
      return swallow(store.proxy);
    case 'swallow the answers of the source':
      return swallow(source.proxy, 'down');
    case 'swallow the answers of the store':
      return swallow(store.proxy, 'down');
    case 'slow down the source':
      return slow(source.proxy, chance);
    case 'slow down the store':
      return slow(store.proxy, chance);
    default:
      kind satisfies never;
  }
}

/** In the middle of what is sent, and then all that is open. */
async function cut(proxy: TcpProxy, chance: number): Promise<void> {
  proxy.cutAfter(Math.floor(chance * 100_000), chance < 0.5 ? 'up' : 'down');
  await delay(500);
  proxy.cut();
}

async function swallow(proxy: TcpProxy, direction?: 'down'): Promise<void> {
  proxy.blackHole(direction);
  await delay(swallowMs);
  proxy.heal();
}

async function slow(proxy: TcpProxy, chance: number): Promise<void> {
  proxy.delay(20 + chance * 100);
  await delay(slowMs);
  proxy.heal();
}
