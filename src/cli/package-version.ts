import { readFileSync } from 'node:fs';

/** The version in package.json, which lies three folders above this file both in the repository and installed. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
