/** `npm start`: fills a store from the documents in node_modules, then asks it three questions. */
import { fileURLToPath } from 'node:url';
import { createOutput } from '../../src/cli/output.js';
import { passageLines } from '../../src/cli/passage-lines.js';
import { printError } from '../../src/cli/print-error.js';
import { createProgress } from '../../src/cli/progress.js';
import { listenForStop } from '../../src/cli/signals.js';
import { summaryLine } from '../../src/cli/summary-line.js';
import { openRetriever, run } from '../../src/index.js';

const config = fileURLToPath(new URL('../../../examples/first-run/millrace.yaml', import.meta.url));
const questions = [
  'How do I parse YAML into a JavaScript object?',
  'How do I declare a required option of a command?',
  'How do I show a progress bar in the terminal?',
];

const output = createOutput(false);
try {
  output.line('Indexing the Markdown of every package in node_modules (examples/first-run/millrace.yaml)');
  const progress = createProgress(output, Date.now);
  const stop = listenForStop(() => output.note('stopping: what is under way comes again at the next run'));
  let documents = 0;
  let characters = 0;
  const summary = await run(config, {
    signal: stop.drain,
    abort: stop.abort,
    onEvent: (event) => {
      progress.see(event);
      if (event.type === 'settled') {
        documents += 1;
        characters += event.characters;
      }
    },
  }).finally(() => {
    progress.end();
    stop.release();
  });
  output.line(`${documents} documents, ${(characters / 1e6).toFixed(1)} million characters`);
  output.line(summaryLine(summary));

  const retriever = await openRetriever(config);
  try {
    const { chunks } = await retriever.count();
    output.line(`${chunks} chunks in .millrace/first-run/store`);
    for (const question of questions) {
      output.line(`\n? ${question}\n`);
      for (const hit of await retriever.retrieve(question, { k: 2 })) passageLines(hit).forEach(output.line);
    }
  } finally {
    await retriever.close();
  }
  output.line('Ask your own: npx millrace query examples/first-run/millrace.yaml "your question"');
} catch (error) {
  printError(error, output);
  process.exitCode = 1;
}
