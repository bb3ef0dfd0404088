import type { SqlStatement } from './connection.js';
import type { TableNames } from './names.js';
import { keptTextsStatements } from './kept-texts-sql.js';
import { generationStatements, layoutVersion, takeTurns } from './schema-sql.js';
import { viewColumnStatement } from './view-sql.js';

/**
 * From layout 1, whose chunks all had a vector in the one space that a pipeline had, layout 2, whose pipelines had
 * one generation, layout 3, whose vectors had floats of 32 bits, and layouts 4 to 6, which kept chunks alone, had no views, no
 * columns of metadata fields, and did not count words. What stood before the text of a chunk when it was embedded was not
 * kept by the first two.
 */
export function migrationStatements(names: TableNames): readonly SqlStatement[] {
  return [
    takeTurns,
    { text: `alter table ${names.layout} add column if not exists spaces json` },
    {
      text: `alter table ${names.chunks} alter column embedding drop not null, add column if not exists prefix text`,
    },
    { text: `alter table ${names.ledger} add column if not exists words int` },
    ...[...generationStatements(names), ...keptTextsStatements(names), viewColumnStatement(names)].map(
      (text) => ({ text }),
    ),
    {
      text: `update ${names.layout} set version = $1,
               spaces = coalesce(spaces, json_build_array(json_build_object('name', '*', 'width', width)))`,
      values: [layoutVersion],
    },
  ];
}
