import { z } from 'zod';

/** A Qdrant server, 1.16 or newer. */
export const qdrantConfig = z
  .strictObject({
    url: z
      .string()
      .refine(
        (url) => /^https?:\/\//.test(url) && URL.canParse(url),
        'expected http://host:6333, or https:// for TLS',
      )
      .describe(
        'Address: `http://host:6333`, `https://` for TLS; without a port it is 6333. A certificate authority of your own goes into `NODE_EXTRA_CA_CERTS`.',
      ),
    apiKey: z.string().min(1).describe('API key. Keep it in the environment.').optional(),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,64}$/, 'expected letters, digits and -, at most 64')
      .describe(
        'What the names of the collections begin with: `<prefix>_<pipeline>`, which is followed by what each is for.',
      )
      .default('millrace'),
    tenant: z
      .string()
      .min(1)
      .describe(
        'Metadata field (dots reach into objects) that says whose a document is: its chunks are kept together, a search of one tenant reads only those, and each question must name a tenant or ask for all.',
      )
      .optional(),
    indexes: z
      .record(z.string().min(1), z.enum(['keyword', 'number', 'boolean']))
      .describe(
        'Metadata fields that filters use, and what they hold: an index for each is made before the first write.',
      )
      .default({}),
    indexFrom: z
      .int()
      .min(1)
      .describe(
        'Kilobytes of vectors in a segment from which Qdrant builds its index (its `indexing_threshold`). During a first fill there is no index; it is built when that has caught up.',
      )
      .default(10_000),
    keepText: z
      .boolean()
      .optional()
      .describe(
        'Keeps what the source gave of each document, text and metadata, in a collection beside the ledger: a change of the chunker or of the enrichment is then filled from there. Takes about as much room as the texts do, in each generation. `false` removes it again. Default: as the store was last told, at first not.',
      ),
    connections: z.int().min(1).max(1000).describe('Most requests to the server at once.').default(4),
    maxRequestMb: z
      .number()
      .min(0.01)
      .max(1024)
      .describe(
        "Largest request, in MB: below the server's `max_request_size_mb`, which is 32 unless it was changed.",
      )
      .default(30),
    timeout: z.number().min(0.1).max(3600).describe('Seconds that one request may take.').default(60),
  })
  .describe('A Qdrant server, 1.16 or newer.');

export type QdrantConfig = z.infer<typeof qdrantConfig>;
