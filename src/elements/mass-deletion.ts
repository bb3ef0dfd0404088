/** More documents vanished at once than is plausible: over 20 of them, and over 30 % of all. */
export function isMassDeletion(vanished: number, known: number): boolean {
  return vanished > 20 && vanished > known * 0.3;
}
