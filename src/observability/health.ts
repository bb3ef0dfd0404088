import type { RunEvent } from './events.js';

export interface HealthState {
  /** It reads, works and writes: nothing stands still. */
  readonly ready: boolean;
  /** Why it is not ready, one for each thing that stands still. */
  readonly reasons: readonly string[];
}

export interface Health {
  see(event: RunEvent): void;
  state(): HealthState;
}

/** Whether a run does its work, from the same events that feed log and metrics. */
export function createHealth(): Health {
  let phase: 'starting' | 'running' | 'ended' = 'starting';
  const paused = new Map<string, string>();
  const full = new Map<string, string>();
  const stalled = new Map<string, string>();

  function see(event: RunEvent): void {
    switch (event.type) {
      case 'started':
        phase = 'running';
        return;
      case 'finished':
        phase = 'ended';
        return;
      case 'retry':
        if (event.pausing)
          paused.set(event.lane, `${event.lane} is away (${event.error.code}): ${event.error.message}`);
        return;
      case 'recovered':
        paused.delete(event.lane);
        return;
      case 'lane-full':
        full.set(event.lane, `${event.lane} is stuck: ${event.documents} documents wait for it`);
        return;
      case 'lane-free':
        full.delete(event.lane);
        return;
      case 'lag':
        if (event.stalled === undefined) stalled.delete(event.source);
        else stalled.set(event.source, `${event.source} stands still: ${event.stalled}`);
        return;
      case 'status-open':
      case 'settled':
      case 'failed':
      case 'batch':
      case 'progress':
      case 'filling':
      case 'refresh':
      case 'swept':
      case 'caught-up':
      case 'notice':
        return;
      default:
        event satisfies never;
    }
  }

  return {
    see,
    state: () => {
      const reasons = [
        ...(phase === 'starting' ? ['it is starting: models are loaded, the store is prepared'] : []),
        ...(phase === 'ended' ? ['it has ended'] : []),
        ...[paused, full, stalled].flatMap((problems) => [...problems.values()]),
      ];
      return { ready: reasons.length === 0, reasons };
    },
  };
}
