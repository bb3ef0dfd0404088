/**
 * Measures how much of the answers each chunker and each retriever find: see docs/evaluation.md and `usage` in options.ts.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { loadTokenizer } from '../../src/inference/tokenizer/load-tokenizer.js';
import { createResourceTable } from '../../src/inference/workers/resources.js';
import { defaultWorkerCount } from '../../src/inference/workers/cores.js';
import { createWorkerPool, type WorkerPool } from '../../src/inference/workers/pool.js';
import { chunkerName } from './chunkers.js';
import { readCorpora } from './data.js';
import { evaluate } from './evaluate.js';
import { openModels } from './open-models.js';
import { readOptions, type EvalOptions } from './options.js';
import { createProgress } from './progress.js';
import { ratioLine, reportTable, type Report, type ReportRow } from './report.js';
import { bm25Retriever, denseRetriever } from './retrievers.js';
import { openStoreRetrievers } from './store-retriever.js';
import { recallRatio, summarise } from './summary.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

async function measureAll(
  options: EvalOptions,
  pool: WorkerPool,
  closers: (() => Promise<void>)[],
): Promise<Report> {
  const corpora = readCorpora(options.data);
  const { bundled, minilm } = await openModels(root, pool, options.withoutMinilm);
  const resources = createResourceTable().lease();
  const tokenizer = await loadTokenizer(bundled.tokenizer!, resources);
  const stores = await openStoreRetrievers(
    new Map([['bundled', bundled], ...(minilm === undefined ? [] : [['minilm', minilm] as const])]),
  );
  closers.push(stores.close);
  const retrievers = [
    denseRetriever('bundled', bundled),
    ...(minilm === undefined ? [] : [denseRetriever('minilm', minilm)]),
    bm25Retriever,
    ...stores.retrievers,
  ];
  const progress = createProgress();
  const rows: ReportRow[] = [];
  const cuts = new Map<string, string[]>();
  let ratio: Report['ratio'];
  for (const spec of options.chunkers) {
    const chunker = chunkerName(spec);
    const { chunks, digest, answers } = await evaluate(spec, corpora, retrievers, {
      k: options.k,
      tokenizer,
      onProgress: (retriever, done, total) => progress(`${chunker}, ${retriever}`, done, total),
    });
    cuts.set(digest, [...(cuts.get(digest) ?? []), chunker]);
    for (const [retriever, given] of answers)
      for (const summary of summarise(given)) rows.push({ chunker, chunks, retriever, ...summary });
    const base = answers.get('minilm');
    if (ratio === undefined && spec.markdown !== undefined && base !== undefined)
      ratio = { chunker, ...recallRatio(answers.get('bundled')!, base) };
  }
  const alike = [...cuts.values()].filter(({ length }) => length > 1);
  return { k: options.k, rows, alike, ratio, without: options.withoutMinilm ? ['minilm'] : [] };
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), root);
  const pool = createWorkerPool({ size: defaultWorkerCount() });
  const closers = [() => pool.close()];
  try {
    const report = await measureAll(options, pool, closers);
    const json = `${JSON.stringify(report, undefined, 2)}\n`;
    // Whoever pipes JSON out of stdout wants nothing else there.
    const print = options.json === '-' ? console.error : console.log;
    for (const line of reportTable(report)) print(line);
    for (const names of report.alike) print(`the same chunks here: ${names.join('; ')}`);
    if (options.json === '-') process.stdout.write(json);
    else if (options.json !== undefined) writeFileSync(options.json, json);
    if (report.ratio !== undefined) print(ratioLine(report.ratio));
    if (report.without.length > 0) print(`left out by name: ${report.without.join(', ')}`);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

try {
  await main();
} catch (error) {
  const { message, hint } = MillraceError.from(error);
  console.error(hint === undefined ? message : `${message}\n  ${hint}`);
  process.exitCode = 1;
}
