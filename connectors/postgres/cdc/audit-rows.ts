import type { Clock } from '../../../src/contracts/context.js';
import type { AuditContext } from '../../../src/contracts/source.js';
import type { SourceElement } from '../../../src/elements/document.js';
import { versionOf } from '../../../src/elements/version.js';
import { readSlice, type SliceOptions } from './backfill.js';
import { mappingsOf, type CdcConfig } from './config.js';
import { rowElement } from './row-element.js';
import { planAll } from './row-plan.js';
import { sourceError } from './source-error.js';
import { openSqlSession } from './sql-session.js';
import { inspectTable, type Table } from './table.js';
import { TypeCatalog } from './type-catalog.js';
import { whereOf } from './where.js';

export interface AuditOptions {
  readonly config: CdcConfig;
  readonly application: string;
  readonly clock: Clock;
}

/** All rows as they are now, each once. Needs no slot and leaves no mark. @throws MillraceError `source_unavailable` */
export async function* auditRows(
  { config, application, clock }: AuditOptions,
  { signal, maxItemBytes }: AuditContext,
): AsyncGenerator<SourceElement> {
  try {
    const sql = await openSqlSession(config, application, clock, signal);
    try {
      const tables: Table[] = [];
      for (const mapping of mappingsOf(config)) tables.push(await inspectTable(sql, mapping));
      const options: SliceOptions = { rows: config.batch, maxItemBytes };
      for (const plan of await planAll(tables, new TypeCatalog(sql))) {
        for (let after: readonly string[] | undefined; !signal.aborted;) {
          const slice = await readSlice(sql, plan, after, options);
          if (slice === undefined) break;
          after = slice.last;
          for (const row of slice.rows) yield rowElement(plan, row, versionOf(0, 0n), maxItemBytes);
        }
      }
    } finally {
      await sql.close();
    }
  } catch (error) {
    throw sourceError(error, whereOf(config.url));
  }
}
