import { setTimeout as delay } from 'node:timers/promises';
import { SteadyClient } from '../steady-client.js';

const tables = `
  create table articles (id bigint primary key, title text not null, body text not null, revision int not null)`;
/** Some hundred characters, different in every row. */
const body = (seed: string) =>
  `'Article ' || ${seed} || ' tells of ' || (array['ants','bees','cows','doves','eels','foxes','geese'])[1 + ${seed} % 7]
   || ' and of ' || md5(${seed}::text) || '. ' || repeat('It has a part that others have too. ', (${seed} % 4)::int)`;
const filledAtOnce = 50_000;

/** A table that is written to for as long as it is told to. */
export class LiveTable {
  readonly #client: SteadyClient;
  readonly #random: () => number;
  readonly #rows: number;
  #last: number;
  #moved = 0;
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;
  written = 0;

  /** @param rows that it has before anybody reads it */
  constructor(url: string, rows: number, random: () => number) {
    this.#client = new SteadyClient(url);
    this.#random = random;
    this.#rows = rows;
    this.#last = rows;
  }

  async fill(): Promise<void> {
    await this.#client.run((connection) => connection.query(tables));
    for (let from = 1; from <= this.#rows; from += filledAtOnce)
      await this.#client.run((connection) =>
        connection.query(
          `insert into articles select n, 'Article ' || n, ${body('n')}, 0 from generate_series($1::bigint, $2::bigint) n
           on conflict do nothing`,
          [from, Math.min(this.#rows, from + filledAtOnce - 1)],
        ),
      );
    await this.#client.run((connection) => connection.query('analyze articles'));
  }

  /** Begins to write. @param perSecond changes */
  start(perSecond: number): void {
    this.#writing = (async () => {
      while (!this.#stopped) {
        const began = Date.now();
        const changes = 1 + Math.floor(this.#random() * 8);
        const statements = Array.from({ length: changes }, () => this.#change());
        await this.#client.run((connection) => connection.query(`begin; ${statements.join('; ')}; commit`));
        this.written += changes;
        await delay(Math.max(0, began + (changes * 1_000) / perSecond - Date.now()));
      }
    })();
    // Told when it is stopped.
    this.#writing.catch(() => undefined);
  }

  /** Resolves once nothing more is written. @throws what ended the writing before */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#writing;
  }

  async close(): Promise<void> {
    this.#stopped = true;
    await this.#writing.catch(() => undefined);
    await this.#client.close();
  }

  /** 60 % updates, 15 % each of new and deleted rows, 10 % other keys, of which some go to what was read already. */
  #change(): string {
    const chance = this.#random();
    const id = 1 + Math.floor(this.#random() * this.#last);
    if (chance < 0.6)
      return `update articles set body = ${body(`(id + ${this.written})`)}, revision = revision + 1 where id = ${id}`;
    if (chance < 0.75) {
      const next = (this.#last += 1);
      return `insert into articles values (${next}, 'New', ${body(`${next}`)}, 0) on conflict do nothing`;
    }
    if (chance < 0.9) return `delete from articles where id = ${id}`;
    const to = chance < 0.95 ? (this.#last += 1) : -(this.#moved += 1);
    return `update articles set id = ${to} where id = ${id} and not exists (select from articles where id = ${to})`;
  }
}
