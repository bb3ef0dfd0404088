import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import { configReference } from '../../src/config/describe.js';
import { repositoryRoot } from '../support/repository.js';

test('the reference page says what the schema says', () => {
  const page = readFileSync(join(repositoryRoot, 'docs', 'configuration.md'), 'utf8');
  const table = page.slice(page.indexOf('| key |'));
  // Mend it: npm run docs
  expect(table).toBe(configReference(connectors));
});
