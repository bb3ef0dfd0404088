import { z } from 'zod';

type Issue = z.core.$ZodIssue;
/** The schema as JSON Schema, and what was written. */
interface Ground {
  readonly tree: Node;
  readonly input: unknown;
}
type Node = {
  properties?: Record<string, Node>;
  /** Of a table with keys of the user's. */
  additionalProperties?: Node | boolean;
  required?: string[];
  anyOf?: Node[];
  items?: Node;
  description?: string;
};

/**
 * What is wrong with a configuration, one line a place: the path to the key, what was expected, what to write instead.
 */
export function explainIssues(issues: readonly Issue[], schema: z.ZodType, input: unknown): string[] {
  const tree = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node;
  return issues.flatMap((issue) => explain(issue, [], { tree, input }));
}

function explain(issue: Issue, above: readonly PropertyKey[], ground: Ground): string[] {
  const { tree, input } = ground;
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union') return explainUnion(issue, path, ground);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${name([...path, key])}: unknown key. ${known(path, key, tree)}`);
  if (issue.code === 'invalid_key') return issue.issues.flatMap((inner) => explain(inner, path, ground));
  const keys = keysAt(path, tree);
  const given = valueAt(path, input);
  if (issue.code === 'invalid_type' && keys.length > 0) {
    const settings = `expected settings. Known here: ${keys.join(', ')}.`;
    if (given === null)
      return [`${name(path)}: ${path.length === 0 ? 'is empty' : 'has nothing under it'}; ${settings}`];
    if (issue.expected === 'object' && given !== undefined)
      return [`${name(path)}: is a ${Array.isArray(given) ? 'list' : typeof given}; ${settings}`];
  }
  const wanted = nodeAt(path, tree)?.description;
  const missing = issue.code === 'invalid_type' && given === undefined;
  const message = missing ? `missing; expected ${issue.expected}` : lowerFirst(issue.message);
  return [`${name(path)}: ${message}${wanted === undefined ? '' : ` (${wanted})`}`];
}

/** Of the branches of a union, those that have the keys which were written are the ones that were meant. */
function explainUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: readonly PropertyKey[],
  ground: Ground,
): string[] {
  const meant = issue.errors.filter(
    (branch) => !branch.some(({ code, path: at }) => at.length === 0 && code === 'unrecognized_keys'),
  );
  const inside = meant.filter((branch) => branch.some(({ path: at }) => at.length > 0));
  if (inside.length === 1) return inside[0]!.flatMap((inner) => explain(inner, path, ground));
  // Keys that a branch cannot do without are what it is chosen by; others stand beside them.
  const needed = [
    ...new Set((nodeAt(path, ground.tree)?.anyOf ?? []).flatMap(({ required = [] }) => required)),
  ];
  const choices = needed.length > 0 ? needed : keysAt(path, ground.tree);
  const written = issue.errors.flatMap((branch) =>
    branch.flatMap((inner) =>
      inner.code === 'unrecognized_keys' && inner.path.length === 0 ? inner.keys : [],
    ),
  );
  const misspelt = written.flatMap((key) => (choices.includes(key) ? [] : [nearest(key, choices)]))[0];
  return [
    `${name(path)}: expected exactly one of ${choices.map((key) => `"${key}"`).join(', ')}, with its settings under it` +
      (misspelt === undefined ? '' : `. Did you mean "${misspelt}"?`),
  ];
}

function known(path: readonly PropertyKey[], key: string, tree: Node): string {
  const keys = keysAt(path, tree);
  const meant = nearest(key, keys);
  if (meant !== undefined) return `Did you mean "${meant}"?`;
  return keys.length === 0 ? 'Nothing is expected here.' : `Known here: ${keys.join(', ')}.`;
}

/** The first key that is at most two edits away. */
function nearest(key: string, keys: readonly string[]): string | undefined {
  return keys.find((candidate) => distance(candidate.toLowerCase(), key.toLowerCase()) <= 2);
}

function keysAt(path: readonly PropertyKey[], tree: Node): string[] {
  const node = nodeAt(path, tree);
  const branches = [node, ...(node?.anyOf ?? [])];
  return [...new Set(branches.flatMap((branch) => Object.keys(branch?.properties ?? {})))];
}

function nodeAt(path: readonly PropertyKey[], tree: Node): Node | undefined {
  return path.reduce<Node | undefined>((node, key) => {
    for (const branch of [node, ...(node?.anyOf ?? [])]) {
      const others = branch?.additionalProperties;
      const own = branch?.properties?.[String(key)] ?? (typeof others === 'object' ? others : undefined);
      const next = typeof key === 'number' ? branch?.items : own;
      if (next !== undefined) return next;
    }
    return undefined;
  }, tree);
}

function valueAt(path: readonly PropertyKey[], input: unknown): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
}

function name(path: readonly PropertyKey[]): string {
  return path.length === 0
    ? 'the configuration'
    : path
        .map((key) => (typeof key === 'number' ? `[${key}]` : String(key)))
        .join('.')
        .replaceAll('.[', '[');
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** Edit distance, for a word or two: https://en.wikipedia.org/wiki/Levenshtein_distance */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
