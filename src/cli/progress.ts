import cliProgress from 'cli-progress';
import type { RunEvent } from '../observability/events.js';
import type { Output } from './output.js';

export interface Progress {
  see(event: RunEvent): void;
  /** Takes the bar off the screen. */
  end(): void;
}

const lineEveryMs = 5_000;

/** A bar with rate and ETA on a terminal, a line per interval elsewhere, made from the events of a run. */
export function createProgress(output: Output, now: () => number): Progress {
  const counts = { documents: 0, embedded: 0, failed: 0, share: 0 };
  const began = now();
  const bar = process.stderr.isTTY ? createBar() : undefined;
  let lineAt = began + lineEveryMs;

  function payload() {
    const seconds = Math.max(0.001, (now() - began) / 1_000);
    return { ...counts, rate: Math.round(counts.documents / seconds) };
  }

  function show() {
    if (bar !== undefined) return bar.update(Math.round(counts.share * 1_000), payload());
    if (now() < lineAt) return;
    lineAt = now() + lineEveryMs;
    output.note(line(payload(), (now() - began) / 1_000));
  }

  function say(text: string) {
    if (bar === undefined) output.note(text);
    else {
      process.stderr.write('\r\u001b[K');
      output.note(text);
    }
  }

  return {
    see: (event) => {
      switch (event.type) {
        case 'settled':
          counts.documents += 1;
          counts.embedded += event.embedded;
          break;
        case 'failed':
          counts.failed += 1;
          if (counts.failed <= 10)
            say(`failed (${event.error.code}) ${event.documentId}: ${event.error.message}`);
          if (counts.failed === 10) say('more failures are not listed here: see `millrace failed list`');
          break;
        case 'progress':
          counts.share = Math.max(counts.share, event.share);
          break;
        case 'retry':
          if (event.pausing)
            say(
              `waiting for ${event.lane} (${event.error.code}, try ${event.attempt}): ${event.error.message}`,
            );
          return;
        case 'recovered':
          return say(`${event.lane} answers again`);
        case 'lane-full':
          return say(
            `${event.documents} documents wait for ${event.lane}: reading pauses until it catches up`,
          );
        case 'lane-free':
          return say(`${event.lane} has room again`);
        case 'refresh':
          return say(refreshLine(event));
        case 'swept':
          return say(`${event.documents} documents are gone from the source and were deleted`);
        case 'caught-up':
          return say('caught up; watching for changes');
        case 'notice':
          return say(event.level === 'warn' ? `warning: ${event.message}` : event.message);
        case 'started':
        case 'batch':
        case 'lag':
        case 'finished':
          return;
        default:
          return event satisfies never;
      }
      show();
    },
    end: () => bar?.stop(),
  };
}

function refreshLine({ model, result, to, error }: Extract<RunEvent, { type: 'refresh' }>): string {
  switch (result) {
    case 'switched':
      return `model ${model} was exchanged; what it makes is labelled ${to}`;
    case 'unchanged':
      return `model ${model} is unchanged`;
    case 'refused':
      return `warning: model ${model} serves on as it was: ${error?.message ?? ''}`;
    default:
      return result satisfies never;
  }
}

function createBar() {
  const bar = new cliProgress.SingleBar({
    format:
      '{bar} {percentage}% | {documents} documents, {embedded} chunks embedded, {failed} failed | {rate}/s | ETA {eta_formatted}',
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 24,
    barCompleteChar: '█',
    barIncompleteChar: '░',
  });
  bar.start(1_000, 0, { documents: 0, embedded: 0, failed: 0, rate: 0 });
  return bar;
}

function line({ documents, embedded, failed, share, rate }: Record<string, number>, seconds: number): string {
  const left = share! > 0 ? `, ETA ${Math.round((seconds * (1 - share!)) / share!)} s` : '';
  return `${Math.round(share! * 100)}%: ${documents} documents, ${embedded} chunks embedded, ${failed} failed, ${rate}/s${left}`;
}
