const leapYear = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)';
const day =
  `(?:${leapYear}-02-29|(?!0000|0001|9999)\\d{4}-(?:02-(?:0[1-9]|1\\d|2[0-8])|` +
  '(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])))';
const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?';
const zone = '(?:Z|[+-](?:0\\d|1[0-4])(?::?[0-5]\\d)?)';

/**
 * What counts as a time, as sources of regular expressions that JavaScript and Postgres read alike: each day that there
 * is from year 2 to 9998, which no zone leads out of what stores can hold, with a time of day or without, in a zone or in UTC. (ISO 8601, with a space for the T too.)
 */
export const timePatterns = {
  day: `^${day}$`,
  local: `^${day}[T ]${clock}$`,
  zoned: `^${day}[T ]${clock}${zone}$`,
} as const;

const [days, locals, zoned] = [timePatterns.day, timePatterns.local, timePatterns.zoned].map(
  (source) => new RegExp(source),
) as [RegExp, RegExp, RegExp];

/** A time in UTC with six digits of a second, finer ones cut off, so that the order of texts is that of times; undefined: the text is no time. */
export function filterTime(text: string): string | undefined {
  const whole = days.test(text) ? `${text}T00:00:00Z` : locals.test(text) ? `${text}Z` : text;
  if (!zoned.test(whole)) return undefined;
  const [, date, clockTime, fraction = '', offset] = /^(.{10}).([\d:]{8})(?:\.(\d+))?(.+)$/.exec(whole)!;
  const [, sign, hours, minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset!) ?? ['', '+', '00'];
  const seconds = new Date(`${date}T${clockTime}${sign}${hours}:${minutes}`);
  return `${seconds.toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
}
