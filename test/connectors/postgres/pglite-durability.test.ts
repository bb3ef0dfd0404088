import fs from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase } from '../../../connectors/postgres/pglite-create.js';
import { patience } from '../../suites/store-harness.js';
import { openDatabase } from '../../../connectors/postgres/pglite-database.js';

describe('a PGlite database', { timeout: patience }, () => {
  let folder: string;
  let synced: string[];
  const { fdatasyncSync } = fs;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-durable-'));
    synced = [];
    fs.fdatasyncSync = (fd) => {
      synced.push(fs.readlinkSync(`/proc/self/fd/${fd}`));
      fdatasyncSync(fd);
    };
    syncBuiltinESMExports();
  }, patience);
  afterEach(async () => {
    fs.fdatasyncSync = fdatasyncSync;
    syncBuiltinESMExports();
    await rm(folder, { recursive: true });
  }, patience);

  it('has its log on the disk when a commit returns, and its tables when a checkpoint does', async () => {
    await createDatabase(folder);
    const database = await openDatabase(folder);
    await database.exec('create table t (a int)');
    for (let i = 0; i < 5; i++) {
      synced = [];
      await database.exec('insert into t values (1)');
      expect(synced.filter((path) => path.includes('/pg_wal/'))).toHaveLength(1);
    }
    synced = [];
    await database.exec('checkpoint');
    expect(synced.some((path) => path.includes('/base/'))).toBe(true);
    expect(synced.some((path) => path.endsWith('/pg_control'))).toBe(true);
    await database.close();
  });

  it('is refused when another version of Postgres made it', async () => {
    await mkdir(join(folder, 'pgdata'));
    fs.writeFileSync(join(folder, 'pgdata', 'PG_VERSION'), '17\n');
    await expect(openDatabase(folder)).rejects.toMatchObject({ code: 'store_layout' });
    expect(await readFile(join(folder, 'pgdata', 'PG_VERSION'), 'utf8')).toBe('17\n');
  });
});
