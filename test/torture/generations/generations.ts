import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { openRetriever, type PipelineInput, type Retriever } from '../../../src/index.js';
import { startMillrace, type MillraceProcess } from '../../support/millrace-process.js';
import { seededRandom } from '../../support/seeded-random.js';
import { startRedis } from '../../support/services/redis.js';
import { anchorScores, judgeAnswers, type Scores } from './answers.js';
import { compareContents, compareKept, compareVectors } from './compare.js';
import { anchors, Corpus, question } from './corpus.js';
import type { GenerationStore } from './generation-store.js';

export interface GenerationTorture {
  startStore(): Promise<GenerationStore>;
  /** An empty folder for the configurations. */
  readonly folder: string;
  /** In the store before the model changes, about. */
  readonly chunks: number;
  /** Changes a second while the generation is filled and switched to. */
  readonly changesASecond: number;
  /** Documents a second that are taken over at most; default: no limit. */
  readonly rate?: number;
  readonly seed: number;
  /** What is new: the model, whose vectors are made of the stored chunks, or the size of the chunks. Default `model`. */
  readonly change?: 'model' | 'chunks';
  /**
   * Texts are read from the stream once more, and a new model has smaller chunks too. Default false: for chunks the store
   * keeps what the source gave.
   */
  readonly fromSource?: boolean;
  say(line: string): void;
}

export interface GenerationVerdict {
  readonly documents: number;
  readonly chunks: number;
  readonly changes: number;
  readonly answers: number;
  readonly kills: number;
  /** Told by the process that switched, before it did. */
  readonly overlap: number | undefined;
  /** From the last start of the switching until its end. */
  readonly switchMs: number;
  readonly states: readonly string[];
  /** What is not as it must be; empty when all is well. */
  readonly faults: readonly string[];
}

const stream = 'documents';
const pipeline = 'mill';
const chunksADocument = 4;
/** So many that the documents that never change are among them. */
const neighbours = 60;
/** Filling and writing processes are killed together, so often. */
const rounds = 2;
const sampledDocuments = 200;
const [maxTokens, smaller] = [48, 24];
/** Where nothing else is new: this cuts the documents that never change too, so that their scores tell. */
const smallest = 12;

/**
 * A store that two processes keep equal to a stream gets another model or another chunk size, under live updates and deletions,
 * while questions are asked; the process that fills, those that write and the one that switches are killed on the way.
 */
export async function tortureGenerations(options: GenerationTorture): Promise<GenerationVerdict> {
  const { folder, seed, change = 'model', fromSource = false, say } = options;
  const random = seededRandom(seed);
  const [store, redis] = await Promise.all([options.startStore(), startRedis({ appendfsync: 'no' })]);
  const running = new Set<MillraceProcess>();
  const start = (...args: string[]) => {
    const one = startMillrace(args, { cwd: folder });
    running.add(one);
    void one.ended.then(() => running.delete(one));
    return one;
  };
  let kills = 0;
  const kill = async (one: MillraceProcess) => {
    kills += 1;
    one.child.kill('SIGKILL');
    return one.ended;
  };
  const input = (name: string, model: object, most = maxTokens): PipelineInput =>
    ({
      name,
      source: { redis: { url: redis.url, stream, claimIdleMs: 2_000, maxDeliveries: 1_000 } },
      chain: [{ chunk: { recursive: { maxTokens: most, overlap: 0 } } }, { embed: { static: model } }],
      sink: change === 'chunks' && !fromSource ? keepingTexts(store.sink) : store.sink,
      failed: { files: { path: 'failed' } },
      workers: 1,
    }) as PipelineInput;
  const changedInput = (name: string) => {
    if (change === 'chunks') return input(name, { model: 'bundled' }, smallest);
    const model = { model: 'bundled', prompts: { document: 'passage: ' } };
    return input(name, model, fromSource ? smaller : maxTokens);
  };
  const reading = fromSource ? ['--from-source'] : [];
  const corpus = new Corpus(random);
  const faults: string[] = [];
  const readers: Reader[] = [];
  let live = false;
  let writing: Promise<void> | undefined;
  try {
    await writeFile(join(folder, 'old.json'), JSON.stringify(input(pipeline, { model: 'bundled' })));
    await writeFile(join(folder, 'new.json'), JSON.stringify(changedInput(pipeline)));
    await add(
      redis.client,
      [...anchors].map(([id, text]) => ['*', 'id', id, 'text', text]),
    );
    for (let left = Math.ceil(options.chunks / chunksADocument); left > 0; left -= 1_000)
      await add(
        redis.client,
        Array.from({ length: Math.min(left, 1_000) }, () => corpus.add()),
      );
    const daemons = [start('run', 'old.json'), start('run', 'old.json')];
    const first = corpus.expected.size;
    while ((await store.ledgerSize(pipeline, 1)) < first) {
      await delay(100);
      for (const { child, ended } of daemons)
        if (child.exitCode !== null) throw new Error(`A daemon ended: ${(await ended).stderr}`);
    }
    say(`${first} documents are stored`);
    const old = await openReader(join(folder, 'old.json'));
    readers.push(old);
    const before = anchorScores(await old.ask(500));

    live = true;
    let changes = 0;
    writing = (async () => {
      while (live) {
        const began = Date.now();
        const some = Math.max(1, Math.round(options.changesASecond / 10));
        await add(
          redis.client,
          Array.from({ length: some }, () => corpus.change()),
        );
        changes += some;
        await delay(Math.max(1, 100 - (Date.now() - began)));
      }
    })();
    const asking: Promise<void>[] = [old.goOn(faults)];
    const rate = options.rate === undefined ? [] : ['--rate', String(options.rate)];
    for (let round = 0; round < rounds; round += 1) {
      const filling = start('generations', 'start', 'new.json', '--json', ...rate, ...reading);
      const share = (round + 0.2 + 0.6 * random()) / (rounds + 0.5);
      while ((await store.ledgerSize(pipeline, 2)) < share * first) {
        await delay(20);
        if (filling.child.exitCode === null) continue;
        const { stdout, stderr } = await filling.ended;
        throw new Error(`The filling ended before it was killed: ${stdout}${stderr}`);
      }
      await kill(filling);
      await kill(daemons[round % 2]!);
      daemons[round % 2] = start('run', 'old.json');
      say(
        `filling and a daemon killed when ${await store.ledgerSize(pipeline, 2)} documents were taken over`,
      );
      if (round > 0) continue;
      const other = await openReader(join(folder, 'new.json'));
      readers.push(other);
      asking.push(other.goOn(faults));
    }
    const cut = start('generations', 'switch', 'new.json', '--json', ...reading);
    await Promise.race([cut.ended, delay(1_500 + random() * 3_000)]);
    const cutShort = await kill(cut);
    say(`switching ${cutShort.signal === null ? 'ended before it was' : ''} killed`);
    const began = Date.now();
    const switching = await start('generations', 'switch', 'new.json', '--json', ...reading).ended;
    const switchMs = Date.now() - began;
    if (switching.code !== 0) throw new Error(`The switch: ${switching.stdout}${switching.stderr}`);
    for (const { stderr } of [cutShort, switching])
      for (const [line] of stderr.matchAll(/Generation 2 and generation 1 share [^"\n]*/g)) say(line);
    say(
      `switched in ${(switchMs / 1_000).toFixed(1)} s: ${cutShort.stdout.trim()} ${switching.stdout.trim()}`,
    );
    for (const { code, stderr } of await Promise.all(daemons.map(({ ended }) => ended)))
      if (code !== 1 || !stderr.includes('is kept in generation 2 now'))
        faults.push(`a daemon ended: ${code} ${stderr.slice(-2_000)}`);
    const successors = [start('run', 'new.json'), start('run', 'new.json')];
    // Before that a signal just ends them.
    await Promise.all(successors.map((one) => one.says('"type":"started"')));
    await delay(2_000);
    live = false;
    await writing;
    for (const one of successors) one.child.kill('SIGTERM');
    for (const { code, stderr } of await Promise.all(successors.map(({ ended }) => ended)))
      if (code !== 0) faults.push(`a daemon of the new model ended: ${code} ${stderr.slice(-2_000)}`);
    const last = await start('run', 'new.json', '--until-idle').ended;
    if (last.code !== 0) faults.push(`the last run: ${last.stderr.slice(-2_000)}`);
    for (const reader of readers) reader.stop();
    await Promise.all(asking);
    const after = anchorScores(await old.ask(500));
    for (const { answers } of readers) faults.push(...judgeAnswers(answers, before, after));

    const { documents, unseen } = await store.contents(pipeline, 2);
    if (unseen > 0) faults.push(`${unseen} chunks that nobody may see`);
    faults.push(...compareContents(documents, corpus.expected));
    if (fromSource) faults.push(...compareKept(await store.kept(pipeline, 2), corpus.expected));
    const sample = [...corpus.expected].filter(
      (_, at, all) => at % Math.ceil(all.length / sampledDocuments) === 0,
    );
    faults.push(...(await compareVectors(store, pipeline, 2, sample, changedInput('reference'), folder)));
    const list = await start('generations', 'list', 'new.json', '--json').ended;
    const told = [switching, cutShort].flatMap(({ stdout }) => jsonLines(stdout));
    return {
      documents: documents.size,
      chunks: [...documents.values()].reduce((sum, { chunkCount }) => sum + chunkCount, 0),
      ...{ changes, kills, switchMs, faults },
      answers: readers.reduce((sum, { answers }) => sum + answers.length, 0),
      overlap: told.find(({ asked }) => (asked as number) > 0)?.['overlap'] as number | undefined,
      states: jsonLines(list.stdout).map(({ state }) => state as string),
    };
  } finally {
    live = false;
    await writing?.catch(() => undefined);
    for (const reader of readers) {
      reader.stop();
      await reader.close();
    }
    for (const one of running) await kill(one);
    await Promise.all([store.stop(), redis.stop()]);
  }
}

interface Reader {
  readonly answers: Scores[];
  ask(k?: number): ReturnType<Retriever['retrieve']>;
  /** Asks again and again until it is stopped. */
  goOn(faults: string[]): Promise<void>;
  stop(): void;
  close(): Promise<void>;
}

async function openReader(config: string): Promise<Reader> {
  const retriever = await openRetriever(config);
  const answers: Scores[] = [];
  let on = true;
  const ask = (k = neighbours) => retriever.retrieve(question, { k });
  return {
    answers,
    ask,
    goOn: async (faults) => {
      while (on) {
        const began = Date.now();
        try {
          answers.push(anchorScores(await ask()));
        } catch (error) {
          faults.push(`a question: ${String(error)}`);
        }
        // A large store is read whole for an answer: others want it too.
        await delay(Math.max(20, 3 * (Date.now() - began)));
      }
    },
    stop: () => {
      on = false;
    },
    close: () => retriever.close(),
  };
}

/** @param sink its name and options */
function keepingTexts(sink: object): object {
  return Object.fromEntries(
    Object.entries(sink).map(([name, options]) => [name, { ...(options as object), keepText: true }]),
  );
}

async function add(client: Redis, entries: readonly (readonly string[])[]): Promise<void> {
  const calls = client.pipeline();
  for (const entry of entries) calls.call('XADD', stream, ...entry);
  for (const [error] of (await calls.exec())!) if (error !== null) throw error;
}

function jsonLines(stdout: string): readonly Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
