import type { StoreWrite } from '../contracts/sink.js';
import type { Document, SourceElement } from '../elements/document.js';
import type { Outcome } from '../elements/outcome.js';
import { Begun } from '../flow/begun.js';
import { addTerms } from '../transforms/terms/add-terms.js';
import { embedsInPlace, nameEmbedded } from './chunk-and-embed.js';
import { stale, storedResult, touchedResult, type DocumentResult } from './document-result.js';
import { processDocument, type Chain } from './document-task.js';
import { bringToOutcome, type ElementTaskContext } from './element-task.js';
import type { Route } from './route.js';
import { contentOf, standingOf, type FirstLook } from './standing.js';
import type { Trace } from './trace.js';

/** Documents of one task at most, and their UTF-16 code units: what is made of them waits for the last of them. */
export const togetherAtMost = { documents: 64, units: 64 * 1024 } as const;

/** Whether an element may share its task with others: not where steps are awaited for each document. */
export function mayShareTask(element: SourceElement, { enrich }: Chain): element is Document {
  return enrich.length === 0 && element.kind === 'document' && element.text.length <= togetherAtMost.units;
}

/** Called once for each document, with its place among them, as soon as its outcome is durable. */
export type Settled = (at: number, outcome: Outcome) => void;

interface Looked extends FirstLook {
  readonly document: Document;
  readonly at: number;
}

/**
 * Brings short documents, each with an id of its own, to their outcomes as `processElement` does, in one task: they are
 * looked up, embedded in place and written in one call each. One that needs anything else, or fails, goes on alone.
 * Rejects, once all have ended, when the run has to stop.
 */
export async function processTogether(
  documents: readonly Document[],
  context: ElementTaskContext,
  settled: Settled,
): Promise<void> {
  const together = new Together(context, settled);
  together.begin(documents, await context.sink.ledgerOfEach(documents.map(({ id }) => id)));
  await together.over();
}

class Together {
  readonly #context: ElementTaskContext;
  readonly #settled: Settled;
  readonly #begun = new Begun();

  constructor(context: ElementTaskContext, settled: Settled) {
    this.#context = context;
    this.#settled = settled;
  }

  begin(documents: readonly Document[], entries: readonly (FirstLook['entry'] | Error)[]): void {
    const { chain, source } = this.#context;
    const held: Looked[] = [];
    const wanted = new Map<Route, Looked[]>();
    const trace: Trace = { stage: 'store', route: undefined };
    documents.forEach((document, at) => {
      try {
        trace.stage = 'store';
        const entry = entries[at];
        if (entry instanceof Error) throw entry;
        const looked: Looked = { document, at, content: contentOf(document, chain), entry };
        const standing = standingOf(document, source, looked);
        switch (standing) {
          case 'stale':
            return this.#end(looked, stale);
          case 'held':
            return void held.push(looked);
          case 'wanted': {
            trace.stage = 'embed';
            const route = chain.route(document);
            if (!embedsInPlace(route, entry)) return this.#goAlone(looked, looked);
            const same = wanted.get(route);
            if (same === undefined) wanted.set(route, [looked]);
            else same.push(looked);
            return;
          }
          default:
            return standing satisfies never;
        }
      } catch (error) {
        this.#fail({ document, at }, trace, error);
      }
    });
    if (held.length > 0) this.#begun.add(this.#touch(held));
    for (const [route, some] of wanted) this.#begun.add(this.#store(some, route));
  }

  async over(): Promise<void> {
    await this.#begun.over();
  }

  async #touch(held: readonly Looked[]): Promise<void> {
    const { sink, source } = this.#context;
    const results = await sink.writeEach(
      held.map(({ document, content }) => ({
        kind: 'touch',
        documentId: document.id,
        source,
        version: document.version,
        given: document,
        ...content,
      })),
    );
    held.forEach((looked, at) => {
      const touched = results[at]!;
      if (touched instanceof Error) this.#fail(looked, { stage: 'store', route: undefined }, touched);
      else if (touched.kind === 'moved') this.#goAlone(looked);
      else this.#end(looked, touchedResult(touched, looked.entry, looked.document));
    });
  }

  async #store(wanted: readonly Looked[], route: Route): Promise<void> {
    const { chain, sink, source, signal } = this.#context;
    const texts = wanted.map(({ document }) => document.text);
    const units = texts.reduce((sum, { length }) => sum + length, 0);
    const found = await route.run(units, () => route.chunker.chunkAndEmbed!(texts), texts.length);
    const made: { readonly looked: Looked; readonly write: StoreWrite; readonly embedded: number }[] = [];
    const trace: Trace = { stage: 'chunk', route };
    const options = { route, context: this.#context, trace };
    for (let at = 0; at < wanted.length; at += 1) {
      const looked = wanted[at]!;
      const { document, content } = looked;
      try {
        const { chunks, spaces, embedded } = nameEmbedded(document, found[at]!, options);
        const write: StoreWrite = {
          kind: 'store',
          documentId: document.id,
          source,
          version: document.version,
          given: document,
          contentHash: content.contentHash,
          chainDigest: content.chainDigest,
          chunks: chain.keepsTerms ? await addTerms(chunks, signal) : chunks,
          spaces,
        };
        made.push({ looked, write, embedded });
      } catch (error) {
        this.#fail(looked, trace, error);
      }
    }
    const results = await sink.writeEach(made.map(({ write }) => write));
    made.forEach(({ looked, write, embedded }, at) => {
      const stored = results[at]!;
      if (stored instanceof Error) this.#fail(looked, { stage: 'store', route }, stored);
      else if (stored.kind === 'moved') this.#goAlone(looked);
      else this.#end(looked, storedResult(stored, write.chunks.length, embedded));
    });
  }

  #end({ document, at }: Looked, result: DocumentResult): void {
    if (!result.clearedFailure) this.#settled(at, result.outcome);
    else this.#bring(document, at, async () => result);
  }

  #goAlone({ document, at }: Looked, first?: FirstLook): void {
    this.#bring(document, at, (trace) => processDocument(document, this.#context, trace, first));
  }

  #fail({ document, at }: Pick<Looked, 'document' | 'at'>, { stage, route }: Trace, error: unknown): void {
    this.#bring(document, at, async (trace) => {
      Object.assign(trace, { stage, route });
      throw error;
    });
  }

  #bring(document: Document, at: number, work: (trace: Trace) => Promise<DocumentResult>): void {
    this.#begun.add(
      bringToOutcome(document, this.#context, work).then((outcome) => this.#settled(at, outcome)),
    );
  }
}
