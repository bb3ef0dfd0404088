/** Takes secrets out of a text. */
export type Redact = (text: string) => string;

/** Shorter ones would take out words. */
const leastLength = 4;

/** @param secrets as they are; a text that quotes one as JSON or in an address is redacted too */
export function createRedact(secrets: readonly string[]): Redact {
  const forms = secrets
    .filter(({ length }) => length >= leastLength)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  // Longest first: one secret may hold another.
  const known = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => known.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text);
}
