import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openPgliteConnection } from '../../../connectors/postgres/pglite-connection.js';
import { systemClock } from '../../../src/flow/system-clock.js';
import { openRetriever } from '../../../src/index.js';
import { readFolder, type FolderContent } from '../../support/folder-content.js';
import { millrace, startMillrace } from '../../support/millrace-process.js';
import { seededRandom } from '../../support/seeded-random.js';
import { CommitWatch } from './commit-watch.js';
import { copyCorpus } from './corpus.js';

export interface KillOptions {
  /** An empty folder for corpus, stores and configurations. */
  readonly folder: string;
  readonly kills: number;
  readonly seed: number;
  /** Documents at most; absent: all of node_modules. */
  readonly documents?: number;
  say(line: string): void;
}

export interface KillVerdict {
  readonly kills: number;
  /** Kills after the first and before the last ledger commit of their run. */
  readonly between: number;
  /** What was unsound after a kill. */
  readonly faults: readonly string[];
  /** Records in the failed-element store at the end. */
  readonly failed: number;
  readonly killed: FolderContent;
  readonly undisturbed: FolderContent;
}

const pipeline = 'kill';

/** Share of the kills that strike at any time at all, also before the first commit. */
const anyTime = 0.1;

/**
 * Kills `millrace run` again and again while the corpus changes between the runs, looks at the store after each kill,
 * and at last compares it with one that was filled undisturbed.
 */
export async function killRounds({ folder, kills, seed, documents, say }: KillOptions): Promise<KillVerdict> {
  const random = seededRandom(seed);
  const corpus = await copyCorpus(join(folder, 'docs'), documents);
  const config = await writeConfig(folder, 'killed');
  const store = join(folder, 'killed/store');
  const faults: string[] = [];
  let between = 0;
  let began = Date.now();
  for (let kill = 1; kill <= kills;) {
    if (kill > 1) await corpus.change(random);
    const since = new Date();
    const run = startMillrace(['run', config]);
    const watch = new CommitWatch(store, since);
    const target = random() < anyTime ? undefined : 1 + Math.floor(random() * corpus.size * 0.7);
    let over = false;
    void run.ended.then(() => (over = true));
    if (target === undefined) await Promise.race([delay(random() * 2_500), run.ended]);
    else while (!over && (await watch.count()) < target) await delay(5);
    const alive = !over && run.child.kill('SIGKILL');
    const { signal, stderr } = await run.ended;
    await watch.close();
    if (!alive || signal !== 'SIGKILL') {
      say(`   the run ended before it could be killed; again ${stderr}`);
      continue;
    }
    const at = Date.now() - since.getTime();
    const found = await look(store, config, since);
    faults.push(...found.faults.map((fault) => `after kill ${kill}: ${fault}`));
    // The pass names every document once, so a run commits every row.
    const isBetween = found.committed > 0 && found.committed < corpus.size;
    if (isBetween) between += 1;
    say(
      `kill ${kill}/${kills} at ${at} ms: ${found.committed} of ${corpus.size} rows committed by this run` +
        `${isBetween ? '' : ' (not between first and last commit)'}; ${found.documents} documents, ${found.chunks} chunks, ` +
        `${found.faults.length === 0 ? 'sound' : `UNSOUND: ${found.faults.join('; ')}`}`,
    );
    kill += 1;
  }
  say(`${kills} kills, ${((Date.now() - began) / 1_000).toFixed(0)} s; running to the end, then undisturbed`);
  await complete(config);
  const undisturbed = await writeConfig(folder, 'undisturbed');
  began = Date.now();
  await complete(undisturbed);
  const failed = await millrace(['failed', 'list', config, '--json']);
  return {
    kills,
    between,
    faults,
    failed: failed.stdout.split('\n').filter((line) => line !== '').length,
    killed: await readFolder(store, pipeline),
    undisturbed: await readFolder(join(folder, 'undisturbed/store'), pipeline),
  };
}

/** Small bounds on what is under way spread the commits over the run. */
async function writeConfig(folder: string, name: string): Promise<string> {
  await mkdir(join(folder, name), { recursive: true });
  const path = join(folder, name, 'millrace.yaml');
  await writeFile(
    path,
    `name: ${pipeline}
source: { files: { root: ../docs, include: ['**/*.md'], exclude: [] } }
chain:
  - chunk: { markdown: { maxTokens: 200 } }
  - embed: { static: { model: bundled } }
sink: { pglite: { path: store } }
failed: { files: { path: failed } }
workers: 1
limits: { elements: 16 }
`,
  );
  return path;
}

interface Look {
  readonly committed: number;
  readonly documents: number;
  readonly chunks: number;
  readonly faults: readonly string[];
}

/** What a reader finds after a kill: counts that agree, and a query that is answered from whole documents. */
async function look(store: string, config: string, since: Date): Promise<Look> {
  const entries = await readdir(store).catch(() => [] as string[]);
  if (!entries.includes('pgdata')) return { committed: 0, documents: 0, chunks: 0, faults: [] };
  const connection = openPgliteConnection(store, { clock: systemClock });
  try {
    const tables = await connection.query({
      text: `select to_regclass('millrace.ledger') is not null as there`,
    });
    if (tables[0]!['there'] !== true) return { committed: 0, documents: 0, chunks: 0, faults: [] };
    const rows = await connection.query({
      text: 'select count(*)::int as count from millrace.ledger where updated_at >= $1::timestamptz',
      values: [since.toISOString()],
    });
    const { chunks, ledger, unsound } = await readFolder(store, pipeline);
    const faults = [...unsound];
    if (chunks.length > 0) {
      const retriever = await openRetriever(config);
      try {
        const hits = await retriever.retrieve('How do I run a query with parameters?', { k: 5 });
        const known = new Map(chunks.map((chunk) => [chunk.id, chunk.text]));
        if (hits.length !== Math.min(5, chunks.length)) faults.push(`a query found ${hits.length} passages`);
        for (const hit of hits)
          if (known.get(hit.chunkId) !== hit.text)
            faults.push(`a query found an unknown passage ${hit.chunkId}`);
        const count = await retriever.count();
        if (count.chunks !== chunks.length) faults.push(`counted ${count.chunks} chunks of ${chunks.length}`);
      } finally {
        await retriever.close();
      }
    }
    const documents = ledger.filter(({ state }) => state === 'stored').length;
    return { committed: rows[0]!['count'] as number, documents, chunks: chunks.length, faults };
  } finally {
    await connection.close();
  }
}

async function complete(config: string): Promise<void> {
  const { code, stderr } = await millrace(['run', config]);
  if (code !== 0) throw new Error(`millrace run ended with ${code}: ${stderr}`);
}
