import { openPipelineRetriever } from '../runtime/open-retriever.js';
import type { Command } from './command.js';
import { exitCode } from './exit-code.js';
import type { SearchMode } from '../retrieval/hit.js';
import { passageLines } from './passage-lines.js';
import { parseFilters } from './parse-filters.js';

export interface QueryFlags {
  readonly k: number;
  readonly filter: readonly string[];
  readonly mode: SearchMode;
  readonly route?: string;
  readonly threshold?: number;
  readonly neighbours?: number;
}

/** `millrace query`: the passages of the store that are nearest to a text. */
export const queryCommand: Command<[configPath: string, text: string, flags: QueryFlags]> = async (
  { output, connectors, load },
  configPath,
  text,
  { filter, ...options },
) => {
  const retriever = await openPipelineRetriever(await load(configPath), { connectors });
  try {
    const hits = await retriever.retrieve(text, { ...options, filter: parseFilters(filter) });
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
