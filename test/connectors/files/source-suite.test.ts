import { temporaryFolder, writeFiles } from '../../support/temporary-folder.js';
import { sourceSuite } from '../../suites/source-suite.js';
import { openSource, openUnder } from './bed.js';

sourceSuite('a folder of texts', {
  async fill(documents) {
    const root = await temporaryFolder();
    const files = [...documents].map(([id, text], at): [string, string] => [
      `${at % 7}/${at % 3}/${id}.md`,
      text,
    ]);
    await writeFiles(root, Object.fromEntries(files));
    const { source } = await openSource(root);
    return { source, held: () => openUnder(root) };
  },
});

sourceSuite('a folder of JSON Lines', {
  async fill(documents) {
    const root = await temporaryFolder();
    const lines = [...documents].map(([id, text]) => JSON.stringify({ id, text }));
    const half = lines.length >> 1;
    await writeFiles(root, {
      'a.jsonl': lines.slice(0, half).join('\n'),
      'sub/b.ndjson': `${lines.slice(half).join('\n')}\n`,
    });
    const { source } = await openSource(root);
    return { source, held: () => openUnder(root) };
  },
});
