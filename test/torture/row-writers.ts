import { setTimeout as delay } from 'node:timers/promises';
import type { RowOperation } from './row-operations.js';
import { SteadyClient } from './steady-client.js';

interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
}

const mostInTransaction = 8;
const shares = { abortedBefore: 0.1, undone: 0.15, released: 0.15, slow: 0.03 };
const slowMs = 300;

/**
 * Writes to the table `documents` by several connections at once, in transactions of several changes each: some begin
 * early and end late, some are tried and aborted first, some have a part that is undone to its savepoint.
 */
export class RowWriters {
  readonly #random: () => number;
  readonly #clients: readonly SteadyClient[];

  constructor(url: string, random: () => number, count = 3) {
    this.#random = random;
    this.#clients = Array.from({ length: count }, () => new SteadyClient(url));
  }

  async write(operations: readonly RowOperation[]): Promise<void> {
    const transactions: Transaction[] = [];
    for (let at = 0; at < operations.length;) {
      const size = 1 + Math.floor(this.#random() * mostInTransaction);
      transactions.push(shape(operations.slice(at, at + size), this.#random));
      at += size;
    }
    const next = transactions.values();
    await Promise.all(
      this.#clients.map(async (client) => {
        for (const transaction of next) await transact(client, transaction);
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }
}

interface Transaction {
  readonly statements: readonly Statement[];
  /** Tried and rolled back before. */
  readonly aborted: readonly Statement[];
  /** Between its first statement and the others. */
  readonly waitMs: number;
}

/** Once more, it says the same. */
async function transact(client: SteadyClient, { statements, aborted, waitMs }: Transaction): Promise<void> {
  const [first, ...others] = statements;
  const send = async (
    to: { query(text: string, values?: unknown[]): Promise<unknown> },
    some: readonly Statement[],
  ) => {
    for (const { text, values } of some) await to.query(text, values === undefined ? undefined : [...values]);
  };
  if (aborted.length > 0)
    await client.run(async (connection) => {
      await send(connection, [{ text: 'begin' }, ...aborted, { text: 'rollback' }]);
    });
  await client.run(async (connection) => {
    await send(connection, [{ text: 'begin' }, first!]);
    if (waitMs > 0) await delay(waitMs);
    await send(connection, [...others, { text: 'commit' }]);
  });
}

function shape(operations: readonly RowOperation[], random: () => number): Transaction {
  const statements = operations.map(statementOf);
  const stray = () => strays(operations[Math.floor(random() * operations.length)]!, random);
  const at = Math.floor(random() * statements.length);
  if (random() < shares.undone)
    statements.splice(at, 0, { text: 'savepoint s' }, ...stray(), { text: 'rollback to savepoint s' });
  else if (random() < shares.released)
    statements.splice(at, 1, { text: 'savepoint s' }, statements[at]!, { text: 'release savepoint s' });
  return {
    statements,
    aborted: random() < shares.abortedBefore ? [...stray(), ...stray()] : [],
    waitMs: random() < shares.slow ? slowMs * (0.5 + random()) : 0,
  };
}

/** What must never be seen. */
function strays(beside: RowOperation, random: () => number): Statement[] {
  const id = beside.kind === 'truncate' ? 'doc-1' : beside.id;
  return [
    {
      text: `insert into documents values ($1, 'It never was.', 'en', 'stray')`,
      values: [`stray-${Math.floor(random() * 1e9)}`],
    },
    random() < 0.5
      ? {
          text: `update documents set body = 'It never was.', revision = 'stray' where id = $1`,
          values: [id],
        }
      : { text: `delete from documents where id = $1`, values: [id] },
  ];
}

function statementOf(operation: RowOperation): Statement {
  switch (operation.kind) {
    case 'put': {
      const { id, body, lang, revision } = operation;
      return {
        text: `insert into documents values ($1, $2, $3, $4) on conflict (id)
               do update set body = excluded.body, lang = excluded.lang, revision = excluded.revision`,
        values: [id, body, lang, revision],
      };
    }
    case 'touch':
      return {
        text: `update documents set lang = $2, revision = revision || '+' where id = $1`,
        values: [operation.id, operation.lang],
      };
    case 'rename':
      return {
        text: `update documents set id = $2 where id = $1 and not exists (select from documents where id = $2)`,
        values: [operation.id, operation.to],
      };
    case 'delete':
      return { text: 'delete from documents where id = $1', values: [operation.id] };
    case 'truncate':
      return { text: 'truncate documents' };
    default:
      return operation satisfies never;
  }
}
