import type { ChunkerSpec } from '../../src/transforms/chunk/chunker.js';

/** The chunkers that are compared when none are named. The first is the one that the bundled model is held to. */
export const comparedChunkers: readonly ChunkerSpec[] = [
  { markdown: { maxTokens: 200 } },
  { markdown: { maxTokens: 200, headingPrefix: true } },
  { markdown: { maxTokens: 200, overlap: 40 } },
  { recursive: { maxTokens: 200 } },
];

/** A chunker for people: `markdown 200 overlap=40 headingPrefix`. */
export function chunkerName(spec: ChunkerSpec): string {
  const [[kind, options]] = Object.entries(spec) as [[string, Record<string, unknown>]];
  const { maxTokens, ...rest } = options;
  const others = Object.entries(rest).map(([key, value]) =>
    value === true ? key : `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  );
  return [kind, ...(maxTokens === undefined ? [] : [String(maxTokens)]), ...others].join(' ');
}
