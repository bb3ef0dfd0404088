import { z } from 'zod';
import { serveSchema } from './serve-schema.js';
import { pipelineSchema, type Connectors } from './schema.js';

interface Node {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  /** Of a table with keys of the user's. */
  readonly additionalProperties?: Node | boolean;
  readonly anyOf?: readonly Node[];
  readonly items?: Node;
}

/** The configuration as JSON Schema, of what a file may hold: for editors. */
export function configJsonSchema(connectors: Connectors): object {
  return z.toJSONSchema(pipelineSchema(connectors), { io: 'input', unrepresentable: 'any' });
}

/** The reference page of the configuration, as Markdown: one line a key, from the one schema. */
export function configReference(connectors: Connectors): string {
  return referenceTable(configJsonSchema(connectors));
}

/** The reference of what `millrace serve` reads. */
export function serveReference(): string {
  return referenceTable(z.toJSONSchema(serveSchema, { io: 'input', unrepresentable: 'any' }));
}

function referenceTable(schema: object): string {
  const rows = [...describe(schema as Node, '')];
  return ['| key | value | default | what it does |', '| --- | --- | --- | --- |', ...rows].join('\n') + '\n';
}

function* describe(node: Node, path: string): Generator<string> {
  if (path !== '') yield row(path, node);
  for (const [key, inner] of Object.entries(node.properties ?? {}))
    yield* describe(inner, path === '' ? key : `${path}.${key}`);
  if (typeof node.additionalProperties === 'object' && node.additionalProperties.properties !== undefined)
    yield* describe(node.additionalProperties, `${path}.<name>`);
  if (node.items?.properties !== undefined) yield* nested([node.items], `${path}[]`);
  if (node.items?.anyOf !== undefined) yield* nested(node.items.anyOf, `${path}[]`);
  if (node.anyOf !== undefined) yield* nested(node.anyOf, path);
}

/** Of alternatives only those with keys of their own have more to say; a key of several is told once. */
function* nested(alternatives: readonly Node[], path: string): Generator<string> {
  const told = new Set<string>();
  for (const alternative of alternatives)
    for (const [key, inner] of Object.entries(alternative.properties ?? {})) {
      const rows = [...describe(inner, `${path}.${key}`)];
      if (!told.has(rows.join())) yield* rows;
      told.add(rows.join());
    }
}

function row(path: string, node: Node): string {
  const shown = node.default === undefined ? '' : `\`${JSON.stringify(node.default)}\``;
  const cells = [`\`${path}\``, kind(node), shown, node.description ?? ''];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

function kind(node: Node): string {
  if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (node.properties !== undefined) return 'settings';
  if (node.anyOf !== undefined) {
    const kinds = [...new Set(node.anyOf.map(kind))];
    return kinds.every((name) => name === 'settings') ? 'one of' : kinds.join(' or ');
  }
  if (node.type === 'array') return node.items === undefined ? 'list' : `list of ${kind(node.items)}`;
  return node.type ?? 'function';
}
