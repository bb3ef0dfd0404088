import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Redis } from 'ioredis';
import { openRetriever } from '../../../src/index.js';
import { startMillrace, type MillraceProcess } from '../../support/millrace-process.js';
import { seededRandom } from '../../support/seeded-random.js';
import { startPostgres } from '../../support/services/postgres.js';
import { startRedis } from '../../support/services/redis.js';

export interface GenerationOptions {
  /** An empty folder for the configurations. */
  readonly folder: string;
  readonly documents: number;
  /** Operations a second while the generation is filled. */
  readonly opsASecond: number;
  /** Of the process that fills; a daemon is killed each time too. */
  readonly kills: number;
  readonly seed: number;
  /** Another chunk size too, so that the texts are read from the stream. */
  readonly fromSource?: boolean;
  say(line: string): void;
}

export interface GenerationVerdict {
  readonly operations: number;
  /** Documents that differ between what was written and what is stored, at the end. */
  readonly differences: readonly string[];
  /** Answers during the change, by the score of a text that never changes. */
  readonly scores: readonly number[];
  readonly faults: readonly string[];
  readonly states: readonly string[];
  readonly switched: string;
  readonly fillMs: number;
}

const stream = 'documents';
const anchor = 'A miller grinds the grain of the valley into flour.';

/**
 * A store on a server, filled and kept up by two processes from a stream, gets another model, and perhaps another chunk
 * size, under live updates and deletions, while questions are asked and the filling process and the daemons are killed.
 */
export async function generationRounds(options: GenerationOptions): Promise<GenerationVerdict> {
  const { folder, documents, opsASecond, kills, seed, fromSource = false, say } = options;
  const random = seededRandom(seed);
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis({ appendfsync: 'no' })]);
  const client = new pg.Pool({ connectionString: postgres.url, max: 2 });
  client.on('error', () => undefined);
  const running = new Set<MillraceProcess>();
  const start = (...args: string[]) => {
    const one = startMillrace(args, { cwd: folder });
    running.add(one);
    void one.ended.then(() => running.delete(one));
    return one;
  };
  const kill = async (one: MillraceProcess) => {
    one.child.kill('SIGKILL');
    await one.ended;
  };
  const configuration = (prompts: string, recursive = '{}') => `name: mill
source: { redis: { url: "${redis.url}", stream: ${stream}, claimIdleMs: 2000 } }
chain: [{ chunk: { recursive: ${recursive} } }, { embed: { static: { model: bundled${prompts} } } }]
sink: { postgres: { url: "${postgres.url}", index: off } }
failed: { files: { path: failed } }
workers: 1
`;
  const expected = new Map<string, string>();
  let version = 0;
  const change = (random: () => number) => {
    const fresh = random() < 0.1 || expected.size < 10;
    const id = fresh ? `new-${version}` : `d-${Math.floor(random() * documents)}`;
    version += 1;
    if (random() < 0.15 && expected.has(id)) {
      expected.delete(id);
      return ['*', 'id', id, 'op', 'delete'];
    }
    expected.set(id, `Document ${id} of edition ${version} tells of mill ${version % 97}.`);
    return ['*', 'id', id, 'text', expected.get(id)!];
  };
  try {
    await writeFile(join(folder, 'old.yaml'), configuration(''));
    await writeFile(
      join(folder, 'new.yaml'),
      configuration(
        ', prompts: { document: "passage: " }',
        fromSource ? '{ maxTokens: 8, minTokens: 0 }' : '{}',
      ),
    );
    const reading = fromSource ? ['--from-source'] : [];
    await add(redis.client, [['*', 'id', 'anchor', 'text', anchor]]);
    expected.set('anchor', anchor);
    for (let at = 0; at < documents; at += 1)
      expected.set(`d-${at}`, `Document d-${at}, first edition, of mill ${at % 89}.`);
    const first = [...expected].filter(([id]) => id !== 'anchor');
    for (let at = 0; at < first.length; at += 1_000)
      await add(
        redis.client,
        first.slice(at, at + 1_000).map(([id, text]) => ['*', 'id', id, 'text', text]),
      );
    const daemons = [start('run', 'old.yaml'), start('run', 'old.yaml')];
    const stored = async () =>
      (
        await client
          .query(
            `select count(*)::int as count from millrace.ledger where pipeline = 'mill' and state = 'stored'`,
          )
          .catch(() => ({ rows: [{ count: 0 }] }))
      ).rows[0]!.count as number;
    while ((await stored()) < documents + 1) {
      await delay(100);
      for (const { child, ended } of daemons)
        if (child.exitCode !== null) throw new Error(`A daemon ended: ${(await ended).stderr}`);
    }
    say(`${documents} documents are stored`);

    let live = true;
    let operations = 0;
    const writer = (async () => {
      while (live) {
        const began = Date.now();
        const batch = Array.from({ length: Math.max(1, opsASecond / 20) }, () => change(random));
        await add(redis.client, batch);
        operations += batch.length;
        await delay(Math.max(1, 50 - (Date.now() - began)));
      }
    })();
    const scores: number[] = [];
    const faults: string[] = [];
    const retriever = await openRetriever(join(folder, 'old.yaml'));
    const reader = (async () => {
      while (live) {
        try {
          const [hit] = await retriever.retrieve(anchor, { k: 1 });
          if (hit?.documentId !== 'anchor') faults.push(`the answer is ${hit?.documentId ?? 'nothing'}`);
          const score = Math.round((hit?.score ?? 0) * 1e5) / 1e5;
          if (scores.at(-1) !== score) scores.push(score);
        } catch (error) {
          faults.push(String(error));
        }
        await delay(20);
      }
    })();

    for (let round = 0; round < kills; round += 1) {
      const filling = start('generations', 'start', 'new.yaml', '--json', ...reading);
      // A filling is killed once it has begun: it takes a while to load.
      const took = await Promise.race([
        whenFilling(client, round),
        filling.ended.then(({ stdout, stderr }) => {
          throw new Error(`The filling ended before it was killed: ${stdout}${stderr}`);
        }),
      ]);
      await delay(random() * 300);
      await kill(filling);
      await kill(daemons[round % 2]!);
      daemons[round % 2] = start('run', 'old.yaml');
      say(`kill ${round + 1}: ${took} documents were taken over before`);
    }
    const began = Date.now();
    const ended = await start('generations', 'switch', 'new.yaml', '--json', ...reading).ended;
    const fillMs = Date.now() - began;
    if (ended.code !== 0) faults.push(`switch: ${ended.stdout}${ended.stderr}`);
    const stopped = await Promise.all(daemons.map(({ ended }) => ended));
    for (const { code, stderr } of stopped)
      if (code !== 1 || !stderr.includes('is kept in generation 2 now'))
        faults.push(`a daemon ended: ${code} ${stderr}`);
    const successors = [start('run', 'new.yaml'), start('run', 'new.yaml')];
    await delay(1_500);
    live = false;
    await Promise.all([writer, reader]);
    await retriever.close();
    for (const one of successors) await kill(one);
    const last = await start('run', 'new.yaml', '--until-idle').ended;
    if (last.code !== 0) faults.push(`the last run: ${last.stderr}`);
    const rows = await client.query<{ id: string; text: string | null }>(
      `select l.document_id as id, string_agg(c.text, '' order by c.ordinal) as text
       from millrace.ledger l left join millrace.chunks c using (pipeline, document_id)
       where l.pipeline = 'mill#2' and l.state = 'stored' group by l.document_id`,
    );
    const found = new Map(rows.rows.map(({ id, text }) => [id, text ?? '']));
    const differences = [...new Set([...expected.keys(), ...found.keys()])].filter(
      (id) => withoutBlanks(expected.get(id)) !== withoutBlanks(found.get(id)),
    );
    const list = await start('generations', 'list', 'new.yaml', '--json').ended;
    const states = list.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { state: string }).state);
    return { operations, differences, scores, faults, states, switched: ended.stdout.trim(), fillMs };
  } finally {
    for (const one of running) await kill(one);
    await client.end();
    await Promise.all([postgres.stop(), redis.stop()]);
  }
}

/** Blanks between two chunks belong to neither. */
function withoutBlanks(text: string | undefined): string | undefined {
  return text?.replaceAll(/\s/g, '');
}

async function add(client: Redis, entries: readonly (readonly string[])[]): Promise<void> {
  const pipeline = client.pipeline();
  for (const entry of entries) pipeline.call('XADD', stream, ...entry);
  for (const [error] of (await pipeline.exec())!) if (error !== null) throw error;
}

/** Documents that the filling of a round has taken over once it has taken over some. */
async function whenFilling(client: pg.Pool, round: number): Promise<number> {
  const count = async () =>
    (
      await client.query<{ count: number }>(
        `select count(*)::int as count from millrace.ledger where pipeline = 'mill#2'`,
      )
    ).rows[0]!.count;
  const before = round === 0 ? 0 : await count();
  for (;;) {
    const now = await count();
    if (now > before) return now;
    await delay(20);
  }
}
