/** A count before its noun, for people: `1 chunk`, `2 chunks`. @param one the noun of one, whose plural adds an s */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}
