import { mkdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { PGlite } from '@electric-sql/pglite';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { toWire } from '../../src/errors/wire.js';
import { asExpected, type SqlRow, type SqlStep } from './connection.js';
import { claimFolder, type Claim } from './owner-claim.js';
import { serveSocket } from './owner-server.js';
import { databaseExists } from './data-folder.js';
import { classifySqlError } from './sql-error.js';
import type { AnswerMessage, RequestMessage, StoreRequest, StoreResult } from './store-request.js';

/**
 * The thread that owns a folder: its claim, its database, and the sockets of other processes all live and die here.
 * PGlite blocks its thread while it works.
 */

/** What the thread says to its process, beside the answers: the claim is held, or another process holds it. */
export type OwnerState = 'owner' | 'other';

export interface WorkerInput {
  readonly folder: string;
}

const port = parentPort!;
const { folder } = workerData as WorkerInput;
let database: PGlite | undefined;
/** Requests are done one at a time: there is one connection. */
let last: Promise<unknown> = Promise.resolve();
/** Sockets of those who came before the claim was decided. */
let early: Socket[] | undefined = [];

/** Set once this owner gives the folder up: whoever asks now finds the next owner. */
let stopping = false;

function enqueue(request: StoreRequest): Promise<StoreResult> {
  // Unanswered: the socket closes only when the folder is free, and then the asker looks for the next owner.
  if (stopping) return new Promise(() => {});
  const done = last.then(() => handle(request));
  last = done.catch(() => undefined);
  return done;
}

async function handle(request: StoreRequest): Promise<StoreResult> {
  if (request.kind === 'create') {
    if (!(await databaseExists(folder))) await (await import('./pglite-create.js')).createDatabase(folder);
    return [];
  }
  database ??= await opened();
  try {
    if (request.kind === 'transaction') return await transaction(database, request.steps);
    return [await runStep(database, request.statement)];
  } catch (error) {
    const classified = classifySqlError(error, `PGlite in ${folder}`);
    // Not the database's word but a fault of its engine: this thread ends, and the next use starts another.
    if (classified.code === 'internal' && !('severity' in Object(error))) setImmediate(() => crash(error));
    throw classified;
  }
}

/** The engine is loaded only now: that takes longer than the claim. */
async function opened(): Promise<PGlite> {
  if (await databaseExists(folder)) return (await import('./pglite-database.js')).openDatabase(folder);
  throw new MillraceError('store_layout', `There is no store in ${folder} yet.`, {
    hint: 'Fill it first: `millrace run`.',
  });
}

function crash(error: unknown): never {
  throw error;
}

async function transaction(on: PGlite, steps: readonly SqlStep[]): Promise<SqlRow[][]> {
  await on.exec('begin isolation level read committed');
  try {
    const results: SqlRow[][] = [];
    for (const step of steps) {
      const rows = await runStep(on, step);
      if (!asExpected(step, rows)) {
        await on.exec('rollback');
        return results;
      }
      results.push(rows);
    }
    await on.exec('commit');
    return results;
  } catch (error) {
    await on.exec('rollback');
    throw error;
  }
}

async function runStep(on: PGlite, step: SqlStep): Promise<SqlRow[]> {
  if ('copy' in step) {
    await on.query(`copy ${step.copy} from '/dev/blob' with (format binary)`, [], {
      blob: new Blob([step.data as Uint8Array<ArrayBuffer>]),
    });
    return [];
  }
  return (await on.query<SqlRow>(step.text, step.values as unknown[] | undefined)).rows;
}

async function start(): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const claim = await claimFolder(folder, (socket) => {
    if (early === undefined) serveSocket(socket, enqueue);
    else early.push(socket);
  });
  if (claim === undefined) return say('other');
  for (const socket of early ?? []) serveSocket(socket, enqueue);
  early = undefined;
  port.on('message', (message: RequestMessage | 'close') => {
    if (message === 'close') void stop(claim);
    else
      enqueue(message.request).then(
        (result) => port.postMessage({ id: message.id, result } satisfies AnswerMessage),
        (error: unknown) =>
          port.postMessage({ id: message.id, error: toWire(error) } satisfies AnswerMessage),
      );
  });
  say('owner');
}

function say(state: OwnerState): void {
  port.postMessage(state);
}

/** Others find the folder free only when the database is closed. */
async function stop(claim: Claim): Promise<void> {
  stopping = true;
  await last;
  try {
    await database?.close();
  } finally {
    await claim.release();
  }
  port.close();
}

await start().catch((error: unknown) => port.postMessage({ startError: toWire(error) }));
