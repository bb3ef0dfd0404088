import { createHash } from 'node:crypto';
import { createPortStore } from '../../../../connectors/qdrant/port-store.js';
import { qdrantConfig } from '../../../../connectors/qdrant/config.js';
import type { QdrantPort } from '../../../../connectors/qdrant/port.js';
import type { ConnectorContext } from '../../../../src/contracts/context.js';
import type { DocumentWrite, WriteResult } from '../../../../src/contracts/sink.js';
import type { Store } from '../../../../src/contracts/store.js';
import { MillraceError } from '../../../../src/errors/millrace-error.js';
import { createEngine, type Engine } from '../../../support/qdrant/engine.js';
import { createEnginePort } from '../../../support/qdrant/engine-port.js';
import { layout } from '../../../suites/store-samples.js';

/** Where one step of a race can go next. */
export type Step =
  /** The request that a writer waits for takes effect, and it gets its answer. */
  | { readonly kind: 'go'; readonly writer: number }
  /** The writer ends. Its request may still take effect, at any time. */
  | { readonly kind: 'kill'; readonly writer: number }
  /** The writer hears that the effect of its request is unknown; it may take effect at any time, or has. */
  | { readonly kind: 'lose'; readonly writer: number }
  /** The request is sent twice: another one like it may take effect at any time. */
  | { readonly kind: 'double'; readonly writer: number }
  /** A request of nobody takes effect. */
  | { readonly kind: 'late'; readonly request: number };

/** A write, and what is written instead when what it counted on has moved. */
export interface Wish {
  readonly write: DocumentWrite;
  readonly otherwise?: DocumentWrite;
}

export interface Scenario {
  /** Written before the race, one after the other. */
  readonly before: readonly DocumentWrite[];
  /** One call each, made at once; what is killed is made again at the end. */
  readonly writers: readonly (readonly Wish[])[];
  /** What the writes were given is kept. */
  readonly keepText: boolean;
  /** How often each kind of accident may happen. */
  readonly most: { readonly kill: number; readonly lose: number; readonly double: number };
}

interface Pending {
  readonly name: keyof QdrantPort;
  /** Its effect alone. */
  apply(): Promise<unknown>;
  /** Its effect and its answer. */
  answer(): Promise<void>;
  fail(error: Error): void;
}

interface Writer {
  pending: Pending | undefined;
  state: 'running' | 'killed' | 'ended';
  results: readonly WriteResult[] | undefined;
  readonly trace: string[];
}

const context: ConnectorContext = {
  pipeline: 'race',
  baseFolder: '/nonexistent',
  // Who waits lets the others go first; here the schedule says who does.
  clock: { now: () => 0, sleep: async () => {} },
  notify: () => {},
};
const config = qdrantConfig.parse({ url: 'http://double' });

export interface World {
  readonly engine: Engine;
  readonly store: Store;
  options(): readonly Step[];
  take(step: Step): Promise<void>;
  /** Equal for worlds that go on alike. */
  key(): string;
  /** Results of a writer that has ended, else undefined. */
  results(writer: number): readonly WriteResult[] | undefined;
  /** No writer runs any more. */
  atRest(): boolean;
  /** Makes the calls of the killed again, then lets every late request take effect. */
  recover(): Promise<void>;
  late(): Promise<void>;
}

/** What is there before the race. */
export async function prepareWorld({ before, keepText }: Scenario): Promise<Engine> {
  const engine = createEngine();
  const store = createPortStore(createEnginePort(engine), { ...config, keepText }, context);
  await store.prepare(layout);
  for (const write of before) await store.sink.write([write]);
  return engine;
}

/** Writers whose every request waits to be let go. */
export async function startWorld(from: Engine, { writers: calls, most }: Scenario): Promise<World> {
  const engine = from.copy();
  const port = createEnginePort(engine);
  const store = createPortStore(port, config, context);
  let left = { ...most };
  const late: { readonly what: string; run(): Promise<unknown> }[] = [];
  const writers = calls.map((): Writer => ({
    pending: undefined,
    state: 'running',
    results: undefined,
    trace: [],
  }));
  for (const [at, call] of calls.entries()) void run(writers[at]!, call);
  await idle();

  async function run(writer: Writer, call: readonly Wish[]): Promise<void> {
    const own = createPortStore(steppedPort(port, writer), config, context).sink;
    writer.results = await writeAll(own.write, call);
    writer.state = 'ended';
  }

  return {
    engine,
    store,
    options: () =>
      writers
        .flatMap(({ pending, state }, writer): Step[] => {
          if (pending === undefined || state !== 'running') return [];
          return [
            { kind: 'go', writer },
            ...(left.kill > 0 ? [{ kind: 'kill', writer } as const] : []),
            ...(left.lose > 0 ? [{ kind: 'lose', writer } as const] : []),
            // Chunks are never sent twice.
            ...(left.double > 0 && isChange(pending.name) && pending.name !== 'insert'
              ? [{ kind: 'double', writer } as const]
              : []),
          ];
        })
        .concat(late.map((_, request): Step => ({ kind: 'late', request }))),
    take: async (step) => {
      if (step.kind === 'late') await late.splice(step.request, 1)[0]!.run();
      else {
        const writer = writers[step.writer]!;
        const pending = writer.pending!;
        if (step.kind !== 'go') {
          left = { ...left, [step.kind]: left[step.kind] - 1 };
          if (isChange(pending.name))
            late.push({ what: `${step.writer} ${pending.name} ${writer.trace.length}`, run: pending.apply });
        }
        if (step.kind === 'kill') writer.state = 'killed';
        if (step.kind === 'lose') {
          writer.trace.push('lost');
          pending.fail(new MillraceError('store_unavailable', 'Told to be lost.'));
        }
        if (step.kind === 'go') await pending.answer();
      }
      await idle();
    },
    key: () => {
      const told = [
        ...writers.map(({ state, trace, pending }) => [state, pending?.name ?? '', ...trace].join('\n')),
        ...late.map(({ what }) => what),
        JSON.stringify(left),
      ].join('\n\n');
      const labels = new Map<string, string>();
      const relabel = (text: string) =>
        text.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (uuid) => {
          if (!labels.has(uuid)) labels.set(uuid, `#${labels.size}`);
          return labels.get(uuid)!;
        });
      const traces = relabel(told);
      const points = engine
        .collections()
        .flatMap((name) =>
          engine.points(name).map(({ id, payload }) => relabel(JSON.stringify([name, id, payload]))),
        );
      return createHash('sha1').update(traces).update(points.sort().join('\n')).digest('base64');
    },
    results: (writer) => writers[writer]!.results,
    atRest: () => writers.every(({ state }) => state !== 'running'),
    recover: async () => {
      for (const [at, { state }] of writers.entries())
        if (state === 'killed') await writeAll(store.sink.write, calls[at]!);
    },
    late: async () => {
      for (const request of late.splice(0)) await request.run();
    },
  };
}

/** As the engine does it: outages are waited out, and what moved is looked at again. */
async function writeAll(
  write: Store['sink']['write'],
  call: readonly Wish[],
): Promise<readonly WriteResult[]> {
  for (let wishes = call; ;) {
    try {
      const results = await write(wishes.map(({ write: one }) => one));
      if (!results.some(({ kind }) => kind === 'moved')) return results;
      wishes = wishes.map((wish, at) => (results[at]!.kind === 'moved' ? { write: wish.otherwise! } : wish));
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'store_unavailable') throw error;
    }
  }
}

const passed = new Set<keyof QdrantPort>(['version', 'describe']);

/** Every request waits until it is let go, but for those for what never changes, and for which generations there are. */
function steppedPort(port: QdrantPort, writer: Writer): QdrantPort {
  const calls = Object.entries(port) as [keyof QdrantPort, (...args: unknown[]) => Promise<unknown>][];
  return Object.fromEntries(
    calls.map(([name, call]) => [
      name,
      passed.has(name)
        ? call
        : (...args: unknown[]) =>
            String(args[0]).endsWith('_artifacts')
              ? call(...args)
              : new Promise((resolve, reject) => {
                  writer.pending = {
                    name,
                    apply: () => call(...args),
                    answer: async () => {
                      const result = await call(...args);
                      writer.pending = undefined;
                      writer.trace.push(JSON.stringify([name, isChange(name) ? args : [], result]));
                      resolve(result);
                    },
                    fail: (error) => {
                      writer.pending = undefined;
                      reject(error);
                    },
                  };
                }),
    ]),
  ) as unknown as QdrantPort;
}

function isChange(name: keyof QdrantPort): boolean {
  return name === 'insert' || name === 'replace' || name === 'update';
}

/** Every promise that can resolve has. */
function idle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
