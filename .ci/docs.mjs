// Writes the table of docs/configuration.md anew from the schema: npm run docs
import { readFileSync, writeFileSync } from 'node:fs';
import { connectors } from '../dist/connectors/registry.js';
import { configReference } from '../dist/src/config/describe.js';

const page = new URL('../docs/configuration.md', import.meta.url);
const text = readFileSync(page, 'utf8');
writeFileSync(page, text.slice(0, text.indexOf('| key |')) + configReference(connectors));
