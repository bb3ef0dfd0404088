import { totalmem } from 'node:os';

/** Bytes that this process may use: the machine's memory, or less where its container is given less. */
export function availableMemory(
  machine: number = totalmem(),
  container: number | undefined = process.constrainedMemory(),
): number {
  // Without a limit the kernel names a number near 2^63, or none.
  return container === undefined || container <= 0 ? machine : Math.min(machine, container);
}
