import type { Clock } from '../contracts/context.js';
import type { Sink } from '../contracts/sink.js';
import { retry } from '../flow/retry.js';
import type { Report } from '../observability/events.js';

export interface PatientSinkOptions {
  readonly sink: Sink;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** A sink whose every call waits out outages and tries conflicts again, by the error policy. */
export function createPatientSink({ sink, clock, signal, report }: PatientSinkOptions): Sink {
  const patiently = <T>(call: () => Promise<T>): Promise<T> =>
    retry(call, {
      clock,
      signal,
      onRetry: (event) => report({ type: 'retry', lane: 'sink', ...event }),
      onRecovered: () => report({ type: 'recovered', lane: 'sink' }),
    });
  return {
    ledger: (...args) => patiently(() => sink.ledger(...args)),
    heldChunks: (...args) => patiently(() => sink.heldChunks(...args)),
    write: (...args) => patiently(() => sink.write(...args)),
    countUnnamed: (...args) => patiently(() => sink.countUnnamed(...args)),
    listUnnamed: (...args) => patiently(() => sink.listUnnamed(...args)),
    listLedger: (...args) => patiently(() => sink.listLedger(...args)),
  };
}
