/** A pipeline in TypeScript: each document is given its team, looked up by the folder that it lies in. */
import { definePipeline } from 'millrace';

const teams: Record<string, string> = { guide: 'docs', api: 'platform' };

export default definePipeline({
  name: 'handbook',
  source: { files: { root: './handbook' } },
  chain: [
    {
      enrich: {
        name: 'team',
        // Raise it when the function gives other results for the same document.
        version: '1',
        batch: async (documents) =>
          documents.map(({ id }) => ({ metadata: { team: teams[id.split('/')[0] ?? ''] ?? 'nobody' } })),
      },
    },
    { chunk: { markdown: { maxTokens: 200, overlap: 20 } } },
    { embed: { static: { model: 'bundled' } } },
  ],
});
