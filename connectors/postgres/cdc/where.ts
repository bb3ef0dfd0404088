import pg from 'pg';

/** Names a server in messages, without its password. */
export function whereOf(url: string): string {
  const { host, port } = new pg.Client({ connectionString: url });
  return `Postgres at ${host}:${port}/${databaseOf(url)}`;
}

export function databaseOf(url: string): string {
  return new pg.Client({ connectionString: url }).database ?? '';
}
