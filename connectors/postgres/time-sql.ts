import { timePatterns } from '../../src/elements/filter/time.js';

/** A text as a time, null where it is none: a cast that fails would fail the whole statement. @param text an expression */
export function timeSql(text: string): string {
  // Postgres would round to a microsecond.
  const cut = `regexp_replace(${text}, '(\\.\\d{6})\\d+', '\\1')`;
  return `case
  when ${text} ~ '${timePatterns.day}' then (${text} || 'T00:00:00Z')::timestamptz
  when ${text} ~ '${timePatterns.local}' then (${cut} || 'Z')::timestamptz
  when ${text} ~ '${timePatterns.zoned}' then ${cut}::timestamptz
end`;
}
