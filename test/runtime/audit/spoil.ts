import { openPgliteConnection } from '../../../connectors/postgres/pglite-connection.js';
import { systemClock } from '../../../src/flow/system-clock.js';
import type { Bed } from '../../promises/bed.js';

/** Spoils the store of a bed behind the back of every process. @param statements `$P` stands for what names its rows */
export async function spoil(bed: Bed, ...statements: string[]): Promise<void> {
  const { sink, name } = bed.spec();
  const connection = openPgliteConnection((sink.config as { path: string }).path, { clock: systemClock });
  for (const text of statements)
    await connection.query({ text: text.replaceAll('$P', `pipeline = '${name}'`) });
  await connection.close();
}
