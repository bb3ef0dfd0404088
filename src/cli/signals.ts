export interface StopSignals {
  /** Aborts at the first SIGTERM or SIGINT. */
  readonly drain: AbortSignal;
  /** Aborts at the second. */
  readonly abort: AbortSignal;
  release(): void;
}

/** The first SIGTERM or SIGINT drains, the second aborts. */
export function listenForStop(onStop: (step: 'drain' | 'abort') => void): StopSignals {
  const drain = new AbortController();
  const abort = new AbortController();
  const react = () => {
    const step = drain.signal.aborted ? 'abort' : 'drain';
    onStop(step);
    (step === 'drain' ? drain : abort).abort();
  };
  process.on('SIGTERM', react);
  process.on('SIGINT', react);
  return {
    drain: drain.signal,
    abort: abort.signal,
    release: () => {
      process.off('SIGTERM', react);
      process.off('SIGINT', react);
    },
  };
}
