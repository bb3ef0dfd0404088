import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { dataFolder, databaseVersion } from './data-folder.js';
import { durableFiles } from './durable-files.js';

/** Major version of the Postgres inside PGlite. */
const postgresMajor = '18';

/** Opens the database of a folder that this process owns. @throws MillraceError `store_layout` for another version's */
export async function openDatabase(folder: string): Promise<PGlite> {
  const found = await databaseVersion(folder);
  if (found !== postgresMajor)
    throw new MillraceError(
      'store_layout',
      `${folder} was made by Postgres ${found}, not ${postgresMajor}.`,
      {
        hint: 'Fill a new folder.',
      },
    );
  const { files, opened } = durableFiles(dataFolder(folder), folder);
  const database = await PGlite.create({ fs: files, extensions: { vector }, startParams });
  await opened();
  return database;
}

/** PGlite switches fsync off (`-F`), and its emulation of fdatasync does nothing, unlike that of fsync. */
const startParams = [
  ...PGlite.defaultStartParams.filter((param) => param !== '-F'),
  ...['-c', 'wal_sync_method=fsync', '-c', 'maintenance_work_mem=256MB', '-c', 'jit=off'],
];
