import { joinOwner } from '../../../connectors/postgres/owner-client.js';
import type { StoreSession } from '../../../connectors/postgres/store-session.js';

/**
 * Counts, through the owner's socket, the ledger rows that were committed since a moment. It never owns the folder
 * itself: while nobody does, the count is 0.
 */
export class CommitWatch {
  readonly #folder: string;
  readonly #since: string;
  #session: StoreSession | undefined;

  constructor(folder: string, since: Date) {
    this.#folder = folder;
    this.#since = since.toISOString();
  }

  async count(): Promise<number> {
    try {
      if (this.#session === undefined || this.#session.lost) this.#session = await joinOwner(this.#folder);
      const rows = await this.#session?.send({
        kind: 'query',
        statement: {
          text: 'select count(*)::int as count from millrace.ledger where updated_at >= $1::timestamptz',
          values: [this.#since],
        },
      });
      return (rows?.[0]?.[0]?.['count'] as number | undefined) ?? 0;
    } catch {
      // The owner is only just making its tables, or has ended.
      return 0;
    }
  }

  async close(): Promise<void> {
    await this.#session?.close();
  }
}
