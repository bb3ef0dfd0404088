import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ended, MillraceProcess } from '../support/millrace-process.js';
import { startMillrace } from '../support/millrace-process.js';

/** A daemon that is told to end and takes longer hangs. */
const endMs = 60_000;

/** Daemons that are replaced when they end, as a supervisor would. */
export class Daemons {
  readonly #config: string;
  readonly #logs: string;
  readonly #running: MillraceProcess[];
  #stopping = false;
  #ends = 0;
  kills = 0;
  /** What ended without being told to: allowed only where a service was away at the start. */
  readonly ended: Ended[] = [];
  /** Lines that tell of missing changes: nothing is ever lost here. */
  readonly gaps: string[] = [];

  /** @param logs folder for what each said, in the order of their ends */
  constructor(config: string, logs: string, count: number) {
    this.#config = config;
    this.#logs = logs;
    this.#running = Array.from({ length: count }, (_, place) => this.#start(place));
  }

  /** SIGKILL for one, and another in its place. */
  async kill(chance: number): Promise<void> {
    const victim = this.#running[Math.floor(chance * this.#running.length)]!;
    this.kills += 1;
    victim.child.kill('SIGKILL');
    await victim.ended;
  }

  /** SIGTERM for all, and SIGKILL for those that hang. @returns how each ended */
  async stop(): Promise<readonly Ended[]> {
    this.#stopping = true;
    for (const { child } of this.#running) child.kill('SIGTERM');
    const hung = setTimeout(() => void this.abandon(), endMs);
    const ended = await Promise.all(this.#running.map(({ ended }) => ended));
    clearTimeout(hung);
    return ended;
  }

  /** Ends all at once, whatever they do. */
  async abandon(): Promise<void> {
    this.#stopping = true;
    for (const { child } of this.#running) child.kill('SIGKILL');
    await Promise.all(this.#running.map(({ ended }) => ended));
  }

  #start(place: number): MillraceProcess {
    const daemon = startMillrace(['run', this.#config]);
    void daemon.ended.then((how) => {
      this.#ends += 1;
      // At once: the folder may go as soon as all have ended.
      writeFileSync(join(this.#logs, `${String(this.#ends).padStart(4, '0')}.log`), how.stderr);
      this.gaps.push(...how.stderr.split('\n').filter((line) => line.includes('"code":"source_gap"')));
      if (this.#stopping) return;
      if (how.signal !== 'SIGKILL') this.ended.push(how);
      this.#running[place] = this.#start(place);
    });
    return daemon;
  }
}
