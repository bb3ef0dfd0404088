import type { Estimate, Summary } from './summary.js';
import { table } from './table.js';

export type ReportRow = Summary & {
  readonly chunker: string;
  /** Of all corpora together. */
  readonly chunks: number;
  readonly retriever: string;
};

export interface Report {
  /** Chunks retrieved for each question. */
  readonly k: number;
  readonly rows: readonly ReportRow[];
  /** Chunkers that cut these corpora alike: their rows are equal. */
  readonly alike: readonly (readonly string[])[];
  /** Recall of the bundled model over that of MiniLM, for the first Markdown chunker; undefined where one is missing. */
  readonly ratio: ({ readonly chunker: string } & Estimate) | undefined;
  /** Left out by name. */
  readonly without: readonly string[];
}

/** What the bundled model's recall must be of MiniLM's. */
const bar = 0.85;

/** One table for all questions, then one for each corpus. */
export function reportTable({ k, rows }: Report): string[] {
  const corpora = [...new Set(rows.map(({ corpus }) => corpus))];
  return corpora.flatMap((name) => {
    const own = rows.filter(({ corpus }) => corpus === name);
    const title = name === 'all' ? 'All corpora, one index each' : name;
    return [
      `${title}: ${own[0]!.questions} questions, ${k} chunks retrieved, means with 95 % intervals`,
      '',
      ...table([
        ['chunker', 'chunks', 'retriever', 'recall', 'precision', 'IoU'],
        ...own.map(({ chunker, chunks, retriever, recall, precision, iou }) => [
          chunker,
          String(chunks),
          retriever,
          shown(recall),
          shown(precision),
          shown(iou),
        ]),
      ]),
      '',
    ];
  });
}

export function ratioLine(ratio: NonNullable<Report['ratio']>): string {
  const holds = ratio.mean >= bar ? 'holds' : 'DOES NOT HOLD';
  return `bundled recall / minilm recall, ${ratio.chunker}: ${shown(ratio)}, bar ${bar}: ${holds}`;
}

function shown({ mean, interval }: Estimate): string {
  return `${mean.toFixed(3)} [${interval.map((bound) => bound.toFixed(3)).join(', ')}]`;
}
