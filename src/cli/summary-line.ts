import { counted } from '../elements/counted.js';
import type { RunSummary } from '../observability/events.js';

/** What a run did, in one line. */
export function summaryLine({ outcomes, embedded, chunks, ms, end }: RunSummary): string {
  const counts = Object.entries(outcomes)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`);
  const documents = counts.length === 0 ? 'no documents' : `documents: ${counts.join(', ')}`;
  const kept = chunks - embedded;
  return (
    `${documents}; ${counted(embedded, 'chunk')} embedded${kept > 0 ? `, ${counted(kept, 'vector')} kept` : ''}; ` +
    `${(ms / 1_000).toFixed(1)} s${end === 'complete' ? '' : ` (${end})`}`
  );
}
