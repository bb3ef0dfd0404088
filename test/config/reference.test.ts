import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import { configReference, serveReference } from '../../src/config/describe.js';
import { repositoryRoot } from '../support/repository.js';

test.each([
  ['configuration', configReference(connectors)],
  ['serving', serveReference()],
])('the reference page %s says what the schema says', (name, reference) => {
  const page = readFileSync(join(repositoryRoot, 'docs', `${name}.md`), 'utf8');
  const table = page.slice(page.indexOf('| key |'));
  // Mend it: npm run docs
  expect(table).toBe(reference);
});
