import type { Clock } from '../../../src/contracts/context.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { mappingsOf, type CdcConfig } from './config.js';
import { lookAtSlot } from './slot.js';
import { sourceError } from './source-error.js';
import { openSqlSession } from './sql-session.js';
import { inspectTable } from './table.js';
import { whereOf } from './where.js';

/** The first version with all that is asked of the server. */
const leastVersion = 140_000;

/** What is there, for people. Leaves no mark. @throws MillraceError `source_unavailable`, `config_invalid` */
export async function describeSource(
  config: CdcConfig,
  names: { readonly slot: string; readonly publication: string; readonly application: string },
  clock: Clock,
): Promise<string> {
  const where = whereOf(config.url);
  try {
    const sql = await openSqlSession(config, names.application, clock);
    try {
      await checkServer();
      const tables: string[] = [];
      for (const mapping of mappingsOf(config)) {
        const { schema, name, id } = await inspectTable(sql, mapping);
        tables.push(`${schema}.${name} by ${id.join(', ')}`);
      }
      const [publication] = await sql.rows('select from pg_publication where pubname = $1', [
        names.publication,
      ]);
      const slot = await lookAtSlot(sql, names.slot);
      const there = (found: boolean) => (found ? 'is there' : config.make ? 'will be made' : 'is missing');
      return `${tables.join(', ')}; publication ${names.publication} ${there(publication !== undefined)}, slot ${names.slot} ${there(slot !== undefined)}`;
    } finally {
      await sql.close();
    }

    async function checkServer(): Promise<void> {
      const [row] = await sql.rows(
        "select current_setting('server_version_num'), current_setting('wal_level'), pg_is_in_recovery()",
      );
      const [version, level, standby] = row!;
      const unfit = (message: string, hint: string) =>
        new MillraceError('config_invalid', `${where} ${message}.`, { hint });
      if (Number(version) < leastVersion) throw unfit('is older than Postgres 14', 'Use a newer server.');
      if (standby === 't') throw unfit('is a standby', 'Name the primary in `url`.');
      if (level !== 'logical')
        throw unfit(
          `has wal_level = ${level}`,
          'Change data capture needs wal_level = logical, and a restart of the server.',
        );
    }
  } catch (error) {
    throw sourceError(error, where);
  }
}
