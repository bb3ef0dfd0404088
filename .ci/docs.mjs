// Writes the tables of the reference pages anew from their schemas: npm run docs
import { readFileSync, writeFileSync } from 'node:fs';
import { connectors } from '../dist/connectors/registry.js';
import { configReference, serveReference } from '../dist/src/config/describe.js';

for (const [name, table] of [
  ['configuration', configReference(connectors)],
  ['serving', serveReference()],
]) {
  const page = new URL(`../docs/${name}.md`, import.meta.url);
  const text = readFileSync(page, 'utf8');
  writeFileSync(page, text.slice(0, text.indexOf('| key |')) + table);
}
