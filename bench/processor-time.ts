import { readdir, readFile } from 'node:fs/promises';

/** Linux counts processor time in hundredths of a second. */
const msATick = 10;

/**
 * Processor time of a process and of all its children, in milliseconds, those that ended included; 0 where there is no
 * `/proc`.
 */
export async function processorTime(pid: number): Promise<number> {
  let sum = 0;
  for (const entry of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'latin1').catch(() => undefined);
    if (stat === undefined) continue;
    // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: after the name, which is in parentheses
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent, user, system, ofChildren, systemOfChildren] = [1, 11, 12, 13, 14].map((at) => fields[at]!);
    if (Number(entry) === pid) sum += user! + system! + ofChildren! + systemOfChildren!;
    else if (parent === pid) sum += user! + system!;
  }
  return sum * msATick;
}
