import type { Clock } from '../contracts/context.js';
import type { FailedElement, FailedStore } from '../contracts/failed-store.js';
import type { SourceElement } from '../elements/document.js';
import type { Outcome } from '../elements/outcome.js';
import { laterVersion } from '../elements/version.js';
import { MillraceError } from '../errors/millrace-error.js';
import { toWire } from '../errors/wire.js';
import { errorPolicy } from '../flow/error-policy.js';
import { retry } from '../flow/retry.js';
import type { Report } from '../observability/events.js';
import { stale, type DocumentResult } from './document-result.js';
import { processDocument, type DocumentTaskContext } from './document-task.js';
import type { Trace } from './trace.js';

export interface ElementTaskContext extends DocumentTaskContext {
  readonly pipeline: string;
  readonly failed: FailedStore;
  readonly clock: Clock;
  readonly report: Report;
}

/**
 * Brings one element to its outcome. It resolves only once the outcome is durable: in the store, or, for a failure, in
 * the ledger and in the failed-element sink. Rejects when the run has to stop; the element is then not settled.
 */
export async function processElement(element: SourceElement, context: ElementTaskContext): Promise<Outcome> {
  return bringToOutcome(element, context, (trace) => attempt(element, context, trace));
}

/** As `processElement`, by work of the caller's own. */
export async function bringToOutcome(
  element: SourceElement,
  context: ElementTaskContext,
  work: (trace: Trace) => Promise<DocumentResult>,
): Promise<Outcome> {
  const trace: Trace = { stage: 'source', route: undefined };
  try {
    const { outcome, clearedFailure } = await work(trace);
    if (clearedFailure) await patiently(context, () => context.failed.discard([keyOf(element)]));
    return outcome;
  } catch (thrown) {
    context.signal.throwIfAborted();
    const error = MillraceError.from(thrown);
    if (!mayBecomeFailedElement(error)) throw error;
    return fail(element, { ...trace, error }, context);
  }
}

function mayBecomeFailedElement(error: MillraceError): boolean {
  const policy = errorPolicy[error.code];
  return policy.action === 'fail' || (policy.action === 'retry' && policy.then === 'fail');
}

async function attempt(
  element: SourceElement,
  context: DocumentTaskContext,
  trace: Trace,
): Promise<DocumentResult> {
  switch (element.kind) {
    case 'document':
      return processDocument(element, context, trace);
    case 'deletion': {
      trace.stage = 'store';
      const { sink, source } = context;
      const result = await sink.write({
        kind: 'delete',
        source,
        documentId: element.id,
        version: element.version,
      });
      if (result.kind !== 'done') return stale;
      return { outcome: { kind: 'deleted' }, clearedFailure: result.clearedFailure };
    }
    case 'unreadable':
      throw element.error;
    default:
      return element satisfies never;
  }
}

interface Failure extends Readonly<Trace> {
  readonly error: MillraceError;
}

async function fail(
  element: SourceElement,
  { stage, route, error }: Failure,
  context: ElementTaskContext,
): Promise<Outcome> {
  const { pipeline, source, failed, clock, report } = context;
  const key = keyOf(element);
  // The ledger is marked first: whoever stores a newer version from here on knows that there is a record to discard.
  if ((await mark(element, context)) === 'superseded') return { kind: 'stale' };
  const now = new Date(clock.now()).toISOString();
  await patiently(context, () =>
    failed.put([
      {
        pipeline,
        source,
        ...key,
        element: failedElement(element),
        stage,
        error: toWire(error),
        attempts: 1,
        firstAt: now,
        lastAt: now,
        ...(route !== undefined && {
          model: route.lanes.map(({ model }) => model).join('+'),
          route: route.name,
        }),
      },
    ]),
  );
  report({ type: 'failed', documentId: element.id, stage, error });
  return { kind: 'failed', error };
}

/**
 * Marks the ledger with the version that failed, unless a newer one is in. A document that the ledger cannot hold (owned
 * by another source, an id too long) is not marked: the record alone tells of it.
 */
async function mark(
  element: SourceElement,
  { source, sink }: ElementTaskContext,
): Promise<'failed' | 'superseded'> {
  try {
    const { kind } = await sink.write({ kind: 'fail', source, ...keyOf(element) });
    if (kind === 'done') return 'failed';
  } catch (refusal) {
    if (!mayBecomeFailedElement(MillraceError.from(refusal))) throw refusal;
    return 'failed';
  }
  const entry = await sink.ledger(element.id);
  const known = laterVersion(entry?.version, entry?.failedVersion);
  return known !== undefined && known > element.version ? 'superseded' : 'failed';
}

function failedElement(element: SourceElement): FailedElement {
  const content = element.kind === 'unreadable' ? element.content : element;
  if (content === undefined || !('text' in content)) return { kind: element.kind };
  return { kind: 'document', text: content.text, metadata: content.metadata };
}

function keyOf({ id, version }: SourceElement) {
  return { documentId: id, version };
}

function patiently<T>({ clock, signal, report }: ElementTaskContext, call: () => Promise<T>): Promise<T> {
  return retry(call, {
    clock,
    signal,
    onRetry: (event) => report({ type: 'retry', lane: 'failed', ...event }),
    onRecovered: () => report({ type: 'recovered', lane: 'failed' }),
  });
}
