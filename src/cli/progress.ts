import cliProgress from 'cli-progress';
import type { RunEvent } from '../observability/events.js';
import { eventLine } from './event-line.js';
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
      if (event.type === 'settled') {
        counts.documents += 1;
        counts.embedded += event.embedded;
        return show();
      }
      if (event.type === 'progress') {
        counts.share = Math.max(counts.share, event.share);
        return show();
      }
      if (event.type === 'failed') counts.failed += 1;
      const text = eventLine(event);
      if (text !== undefined && (event.type !== 'failed' || counts.failed <= 10)) say(text);
      if (event.type === 'failed' && counts.failed === 10)
        say('more failures are not listed here: see `millrace failed list`');
    },
    end: () => bar?.stop(),
  };
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
