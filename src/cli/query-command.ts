import { readFilter } from '../elements/filter/read-filter.js';
import { checkQuestion } from '../retrieval/check-question.js';
import type { SearchMode } from '../retrieval/hit.js';
import { openPipelineRetriever } from '../runtime/open-retriever.js';
import type { Command } from './command.js';
import { exitCode } from './exit-code.js';
import { passageLines } from './passage-lines.js';
import { parseFilters } from './parse-filters.js';

export interface QueryFlags {
  readonly k: number;
  readonly filter: readonly string[];
  readonly mode: SearchMode;
  readonly route?: string;
  readonly threshold?: number;
  readonly neighbours?: number;
  readonly tenant?: string;
  readonly allTenants?: boolean;
}

/** `millrace query`: the passages of the store that are nearest to a text. */
export const queryCommand: Command<[configPath: string, text: string, flags: QueryFlags]> = async (
  { output, connectors, load },
  configPath,
  text,
  { filter, ...options },
) => {
  const question = { ...options, filter: parseFilters(filter) };
  // Before models are loaded and a store is opened.
  checkQuestion(text, question);
  readFilter(question.filter);
  const retriever = await openPipelineRetriever(await load(configPath), { connectors });
  try {
    const hits = await retriever.retrieve(text, question);
    for (const hit of hits) {
      output.data(hit);
      for (const line of passageLines(hit)) output.line(line);
    }
    if (hits.length === 0) output.note('nothing in the store matches');
    return exitCode.ok;
  } finally {
    await retriever.close();
  }
};
