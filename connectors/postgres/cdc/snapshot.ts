/** Which transactions a query sees. */
export interface Snapshot {
  readonly xmin: bigint;
  readonly xmax: bigint;
  readonly running: ReadonlySet<bigint>;
}

/** `xmin:xmax:running,…`, each of 64 bits. */
export function parseSnapshot(text: string): Snapshot {
  const [xmin, xmax, list = ''] = text.split(':');
  const running = list === '' ? [] : list.split(',').map(BigInt);
  return { xmin: BigInt(xmin!), xmax: BigInt(xmax!), running: new Set(running) };
}

/** @param xid the lower 32 bits, as the stream has them; it is not in the future by more than its own transaction */
export function isVisible(xid: number, { xmax, running }: Snapshot): boolean {
  const era = xmax & ~0xffffffffn;
  let full = era | BigInt(xid);
  // More than half the circle ahead is behind.
  if (full > xmax + 0x7fffffffn) full -= 1n << 32n;
  else if (full < xmax - 0x7fffffffn) full += 1n << 32n;
  return full < xmax && !running.has(full);
}
