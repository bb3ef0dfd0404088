import { connectors } from '../../connectors/registry.js';
import { parsePipeline } from '../../src/config/parse.js';
import type { PipelineInput } from '../../src/config/schema.js';
import type { Source } from '../../src/contracts/source.js';
import { createDocument } from '../../src/elements/document.js';
import { versionOf } from '../../src/elements/version.js';
import { chunked } from '../../src/flow/chunked.js';
import { runPipeline } from '../../src/runtime/run.js';
import type { Expected } from './log.js';

/** Fills a store with what must be there, undisturbed, in this process. */
export async function fillReference(
  input: PipelineInput,
  baseFolder: string,
  name: string,
  expected: ReadonlyMap<string, Expected>,
): Promise<void> {
  const spec = parsePipeline(input, {
    connectors,
    baseFolder,
    cacheFolder: baseFolder,
    origin: 'The reference',
  });
  const documents = [...expected].flatMap(([id, { content }]) =>
    content === undefined ? [] : [createDocument({ id, ...content, version: versionOf(0, 1n) })],
  );
  const source: Source = {
    name,
    async *deliveries() {
      for (const elements of chunked(documents, 256))
        yield { kind: 'elements', elements, settle: () => Promise.resolve() };
    },
  };
  await runPipeline(spec, { connectors, source });
}
