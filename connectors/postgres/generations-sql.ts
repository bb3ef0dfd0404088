import type { SpaceLayout } from '../../src/contracts/store.js';
import type { Json } from '../../src/elements/metadata.js';
import type { SqlStatement } from './connection.js';
import { generationKeySql } from './generation-key.js';
import type { TableNames } from './names.js';
import { layoutVersion } from './schema-sql.js';

export function listGenerationsSql(names: TableNames, pipeline: string): SqlStatement {
  return {
    text: `select g.number, case when g.number = h.active then 'active' else l.state end as state, l.spaces,
             (extract(epoch from l.since) * 1000)::float8 as since,
             (select count(*)::int from ${names.behind} b
              where b.pipeline = $1 and b.generation = g.number and g.number <> h.active) as behind
           from ${names.layout} h, generate_series(1, h.generations) as g (number),
             lateral (select * from ${names.layout} where pipeline = ${generationKeySql('h.pipeline', 'g.number')}) l
           where h.pipeline = $1 and (g.number = h.active or l.state <> 'gone') order by g.number`,
    values: [pipeline],
  };
}

/** Of the generations beside the active one. */
export function otherGenerationsSql(names: TableNames, pipeline: string): SqlStatement {
  return {
    text: `select g.number, l.state, (extract(epoch from l.since) * 1000)::float8 as since
           from ${names.layout} h, generate_series(1, h.generations) as g (number),
             lateral (select * from ${names.layout} where pipeline = ${generationKeySql('h.pipeline', 'g.number')}) l
           where h.pipeline = $1 and g.number <> h.active and l.state <> 'gone' order by g.number`,
    values: [pipeline],
  };
}

/** Makes the rows of a new generation; it follows the active one as soon as writers that are under way are done. */
export function startSql(
  names: TableNames,
  pipeline: string,
  spaces: readonly SpaceLayout[],
  chain: Json,
): SqlStatement {
  return {
    text: `with head as (
             update ${names.layout} set generations = generations + 1, followers = followers || (generations + 1)
             where pipeline = $1 returning generations as number
           ), made as (
             insert into ${names.layout} (pipeline, version, width, spaces, state)
             select ${generationKeySql('$1::text', 'number')}, $2, $3, $4::json, 'listing' from head
           ), told as (
             insert into ${names.artifacts} (pipeline, name, value)
             select ${generationKeySql('$1::text', 'number')}, 'chain', $5::json from head
           ) select number from head`,
    values: [pipeline, layoutVersion, spaces[0]!.width, JSON.stringify(spaces), JSON.stringify(chain)],
    rows: 1,
  };
}

export function pauseSql(names: TableNames, pipeline: string, ms: number): SqlStatement {
  return {
    text: `update ${names.layout} set paused_until = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
           where pipeline = $1`,
    values: [pipeline, ms],
  };
}

export function resumeSql(names: TableNames, pipeline: string): SqlStatement {
  return { text: `update ${names.layout} set paused_until = null where pipeline = $1`, values: [pipeline] };
}

export interface Switch {
  readonly from: number;
  readonly to: number;
  readonly fromKey: string;
  readonly toKey: string;
  /** Name of the view that shows the active one; another one by now ends the switch. */
  readonly shown: string | null;
}

/** The steps end at the first, undone, where the generation may not become the active one. */
export function switchSql(
  names: TableNames,
  pipeline: string,
  { from, to, fromKey, toKey, shown }: Switch,
): readonly SqlStatement[] {
  const stored = (key: string) =>
    `(select count(*) from ${names.ledger} where pipeline = ${key} and state = 'stored')`;
  return [
    {
      text: `update ${names.layout} set active = $3::int, paused_until = null,
               followers = array_append(array_remove(followers, $3::int), active)
             where pipeline = $1 and active = $2 and $3 = any(followers) and paused_until > clock_timestamp()
               and shown is not distinct from $6
               and not exists (select from ${names.behind} where pipeline = $1 and generation = $3)
               and ${stored('$4')} = ${stored('$5')}
             returning 1`,
      values: [pipeline, from, to, fromKey, toKey, shown],
      rows: 1,
    },
    {
      text: `update ${names.layout} set state = 'retired', since = now() where pipeline = $1`,
      values: [fromKey],
    },
    {
      text: `update ${names.layout} set state = 'active', since = now() where pipeline = $1`,
      values: [toKey],
    },
  ];
}

/** From now on nobody reads or writes the generation, nor notes what it is behind in. */
export function leaveSql(
  names: TableNames,
  pipeline: string,
  generation: number,
  key: string,
): readonly SqlStatement[] {
  return [
    {
      text: `update ${names.layout} set followers = array_remove(followers, $2::int)
             where pipeline = $1 and active <> $2::int returning 1`,
      values: [pipeline, generation],
      rows: 1,
    },
    {
      text: `update ${names.layout} set state = 'leaving', since = now() where pipeline = $1`,
      values: [key],
    },
  ];
}
