import type { Filter, FilterValue } from '../elements/filter/filter.js';
import { MillraceError } from '../errors/millrace-error.js';

/** All of these must hold: each `lang=en`, `year=2024`, `draft=false`, or a filter as JSON, `{"year": {"$gte": 2024}}`. */
export function parseFilters(filters: readonly string[]): Filter {
  return { $and: filters.map((text) => (text.startsWith('{') ? parseJson(text) : parseEquality(text))) };
}

/** A value that is JSON is taken as such, anything else as a text. */
function parseEquality(text: string): Filter {
  const at = text.indexOf('=');
  if (at < 1)
    throw new MillraceError(
      'config_invalid',
      `--filter ${text}: expected field=value, for example lang=en, or JSON, for example '{"year": {"$gte": 2024}}'.`,
    );
  return { [text.slice(0, at)]: equalityValue(text.slice(at + 1)) };
}

function equalityValue(text: string): FilterValue {
  if (/^(true|false|null|-?\d+(\.\d+)?)$/.test(text)) return JSON.parse(text) as FilterValue;
  return text;
}

/** What it says is checked where it is read. */
function parseJson(text: string): Filter {
  try {
    return JSON.parse(text) as Filter;
  } catch (error) {
    throw new MillraceError('config_invalid', `--filter ${text}: no JSON: ${(error as Error).message}.`, {
      cause: error,
      hint: `Quote it for the shell: --filter '{"year": {"$gte": 2024}}'.`,
    });
  }
}
