import { connectors } from '../../connectors/registry.js';
import type { FailedStoreFactory } from '../../src/contracts/failed-store.js';
import { failedRecord } from '../suites/failed-store-suite.js';
import { testContext } from './test-context.js';

// A process of its own: puts records one by one until it is killed, and prints each id once it is durable.
const [connector, config, name] = process.argv.slice(2) as ['files' | 'postgres' | 'redis', string, string];
const { schema, load } = connectors[connector].failed;
const open = (await load()) as FailedStoreFactory<unknown>;
const store = await open(schema.parse(JSON.parse(config)), testContext('handbook', process.cwd()));
for (let at = 0; ; at++) {
  await store.put([failedRecord(`${name}-${at}`), failedRecord('shared', at)]);
  console.log(`${name}-${at}`);
}
