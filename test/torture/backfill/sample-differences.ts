import pg from 'pg';
import type { PipelineInput } from '../../../src/config/schema.js';
import { chunkDifferences } from '../chunk-differences.js';
import type { Expected } from '../log.js';
import { fillReference } from '../reference.js';
import type { CompareInput } from './compare-table.js';

export interface SampleInput extends CompareInput {
  /** For the failed elements of the reference. */
  readonly folder: string;
  /** What the tortured store was filled with, but for its place. */
  readonly input: PipelineInput;
  readonly name: string;
  readonly random: () => number;
}

const [runs, inRun] = [20, 100];

/** Compares chunks and vectors of some rows, a few here and there, with an undisturbed filling of just these. */
export async function sampleDifferences(sample: SampleInput): Promise<string[]> {
  const { source, store, pipeline, schema, folder, input, name, random } = sample;
  const [table, held] = [source, store].map((url) => new pg.Client({ connectionString: url }));
  await Promise.all([table!.connect(), held!.connect()]);
  try {
    const { rows: ends } = await table!.query<{ least: string; most: string }>(
      'select min(id) as least, max(id) as most from articles',
    );
    const [least, most] = [Number(ends[0]!.least), Number(ends[0]!.most)];
    const expected = new Map<string, Expected>();
    for (let run = 0; run < runs; run += 1) {
      const { rows } = await table!.query<{ id: string; title: string; body: string; revision: number }>(
        'select * from articles where id >= $1 order by id limit $2',
        [Math.floor(least + random() * (most - least)), inRun],
      );
      for (const { id, title, body, revision } of rows)
        expected.set(id, {
          content: { text: `${title}\n\n${body}`, metadata: { revision } },
          ...{ failed: false, earlier: [] },
        });
    }
    const reference = 'reference';
    const sink = { postgres: { url: store, schema: reference, index: 'off' } } as PipelineInput['sink'];
    const failed = { files: { path: 'failed-reference' } } as PipelineInput['failed'];
    await fillReference({ ...input, sink, failed }, folder, name, expected);
    return await chunkDifferences(held!, {
      ...{ pipeline, schema, reference, ids: [...expected.keys()], limit: 20 },
    });
  } finally {
    await Promise.all([table!.end(), held!.end()]);
  }
}
