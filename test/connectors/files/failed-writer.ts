import { filesFailedConfig } from '../../../connectors/files/config.js';
import { openFailedFiles } from '../../../connectors/files/failed.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { connectorContext } from '../../support/connector-context.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { failedRecord } from '../../suites/failed-store-suite.js';

// A process of its own: puts records one by one and prints each id once it is durable, or the code of its failure.
const [folder, name, count] = process.argv.slice(2) as [string, string, string];
const store = await openFailedFiles(
  filesFailedConfig.parse({}),
  connectorContext(folder, new VirtualClock()),
);
const element = { kind: 'document', text: 'x'.repeat(20_000) } as const;

for (let at = 0; at < Number(count); at++) {
  const id = `${name}-${at}`;
  try {
    await store.put(
      [failedRecord(id, at, { element }), failedRecord('waste', at, { element })].slice(
        0,
        name === 'large' ? 1 : 2,
      ),
    );
    console.log(id);
  } catch (error) {
    console.log(MillraceError.from(error).code);
  }
  // What is kept stays small, so that most of the log is waste and it is compacted again and again.
  if (name !== 'large') await store.put([failedRecord(id, at)]);
}
await store.close();
