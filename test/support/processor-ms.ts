/** Processor time that synchronous work takes, in ms: unlike its wall time, a busy machine changes little of it. */
export function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
