import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { connectors } from '../connectors/registry.js';
import { loadConfig } from '../src/config/load.js';
import { repositoryRoot } from './support/repository.js';

interface Service {
  readonly image: string;
  readonly ports: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
}

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
const compose = () => parse(read('docker-compose.yml')) as Compose;

/** Of the Compose Specification, as docker-compose 1.29.2 carries it (Apache-2.0). */
function validator() {
  const { $schema: _, ...schema } = JSON.parse(read('test/support/compose/compose-spec.json')) as Record<
    string,
    unknown
  >;
  return new Ajv({ schemaId: 'auto', unknownFormats: 'ignore', logger: false }).compile(schema);
}

test('docker-compose.yml is what the Compose Specification asks for', () => {
  const validate = validator();
  expect([validate(compose()), validate.errors]).toEqual([true, null]);
  expect(validate({ services: { redis: { image: 'redis', port: '6379' } } })).toBe(false);
});

test('its images are pinned, its ports are on loopback only, and each service says when it is well', () => {
  const { services } = compose();
  expect(Object.keys(services).sort()).toEqual(['postgres', 'qdrant', 'redis']);
  for (const [name, { image, ports, healthcheck }] of Object.entries(services)) {
    expect(image, name).toMatch(/:v?\d+\.\d+\.\d+[-a-z0-9]*$/);
    for (const port of ports) expect(port, name).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    expect(healthcheck.test.length, name).toBeGreaterThan(1);
  }
});

test('the configurations for its services are right', async () => {
  const env = {
    REDIS_URL: 'redis://localhost:6379',
    DATABASE_URL: 'postgres://postgres:millrace@localhost:5432/millrace',
    QDRANT_URL: 'http://localhost:6333',
  };
  const used = new Set<string>();
  for (const file of ['tickets', 'articles']) {
    const path = join(repositoryRoot, 'examples/compose', `${file}.yaml`);
    const { source, sink, failed } = await loadConfig(path, { env, connectors, cacheFolder: '/nonexistent' });
    for (const { connector } of [source, sink, failed]) used.add(connector);
  }
  expect([...used].sort()).toEqual(['postgres', 'qdrant', 'redis']);
});
