const words =
  'ants bees cows doves eels foxes geese hares ibis jays kites larks mice newts owls pigs quails rats seals toads voles wasps Übung naïve 数据 🦊 index vector stream commit replay'.split(
    ' ',
  );

/**
 * Now a few chunks, now ten: an update leaves some chunks as they were, and others must go.
 * @param most paragraphs; few have that many
 */
export function operationText(random: () => number, revision: number, most = 12): string {
  const paragraphs = 1 + Math.floor(random() ** 3 * most);
  const lines = [`# Revision ${random() < 0.5 ? 'one' : revision}`];
  for (let at = 0; at < paragraphs; at += 1) {
    // Half of the paragraphs are the same in every document and revision.
    const seed = random() < 0.5 ? at : Math.floor(random() * 1e6);
    const length = 10 + (seed % 30);
    lines.push(Array.from({ length }, (_, word) => words[(seed * 7 + word * 13) % words.length]).join(' '));
  }
  return lines.join('\n\n');
}
