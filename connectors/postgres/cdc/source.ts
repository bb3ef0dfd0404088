import type { Source, SourceFactory } from '../../../src/contracts/source.js';
import { auditRows } from './audit-rows.js';
import { ownName, type CdcConfig } from './config.js';
import { describeSource } from './describe-source.js';
import { readSessions } from './read-sessions.js';
import { databaseOf } from './where.js';

/** Documents from rows of Postgres tables. @throws MillraceError `source_unavailable` when the server cannot be reached */
export const openPostgresSource: SourceFactory<CdcConfig> = async (config, context) => {
  const own = ownName(context.pipeline);
  const names = {
    slot: config.slot ?? own,
    publication: config.publication ?? own,
    application: `millrace ${context.pipeline}`.slice(0, 63),
  };
  const name = config.name ?? `postgres:${config.table ?? databaseOf(config.url)}`;
  await describeSource(config, names, context.clock);
  return {
    name,
    endless: true,
    rereads: true,
    probe: async () => describeSource(config, names, context.clock),
    audit: (audit) => auditRows({ config, application: names.application, clock: context.clock }, audit),
    deliveries: (source) => readSessions({ config, names, connector: context, context: source }),
  } satisfies Source;
};
