import type { Filter, FilterValue } from '../contracts/chunk-search.js';
import { MillraceError } from '../errors/millrace-error.js';
import { openPipelineRetriever } from '../runtime/open-retriever.js';
import type { Command } from './command.js';
import { exitCode } from './exit-code.js';
import { passageLines } from './passage-lines.js';

export interface QueryFlags {
  readonly k: number;
  readonly filter: readonly string[];
  readonly route?: string;
}

/** `millrace query`: the passages of the store that are nearest to a text. */
export const queryCommand: Command<[configPath: string, text: string, flags: QueryFlags]> = async (
  { output, connectors, load },
  configPath,
  text,
  { k, filter, route },
) => {
  const retriever = await openPipelineRetriever(await load(configPath), { connectors });
  try {
    const hits = await retriever.retrieve(text, { k, filter: parseFilter(filter), ...(route && { route }) });
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

/** `lang=en`, `year=2024`, `draft=false`: a value that is JSON is taken as such, anything else as a string. */
function parseFilter(conditions: readonly string[]): Filter {
  return Object.fromEntries(
    conditions.map((condition) => {
      const at = condition.indexOf('=');
      if (at < 1)
        throw new MillraceError(
          'config_invalid',
          `--filter ${condition}: expected field=value, for example lang=en.`,
        );
      return [condition.slice(0, at), filterValue(condition.slice(at + 1))];
    }),
  );
}

function filterValue(text: string): FilterValue {
  if (/^(true|false|null|-?\d+(\.\d+)?)$/.test(text)) return JSON.parse(text) as FilterValue;
  return text;
}
