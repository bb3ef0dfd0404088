import { access, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WriteResult } from '../../../src/contracts/sink.js';
import { claimFolder } from '../../../connectors/postgres/owner-claim.js';
import { joinOwner } from '../../../connectors/postgres/owner-client.js';
import { pgliteConfig } from '../../../connectors/postgres/config.js';
import { createPgliteStore } from '../../../connectors/postgres/pglite-store.js';
import { layout, storing } from '../../suites/store-samples.js';
import { testContext } from '../../support/test-context.js';
import { patience } from '../../suites/store-harness.js';
import { startFolderProcess, type FolderProcess } from './start-folder-process.js';

describe('a PGlite folder', { timeout: patience }, () => {
  let folder: string;
  const processes: FolderProcess[] = [];

  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'millrace-owner-')), 'store');
  }, patience);
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((one) => one.kill('SIGKILL')));
    await rm(join(folder, '..'), { recursive: true });
  }, patience);

  const start = async () => {
    const one = await startFolderProcess(folder);
    processes.push(one);
    return one;
  };
  const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
  const write = async (on: FolderProcess, some: readonly string[], position = 1) =>
    (await on.ask({ do: 'write', ids: some, position })) as WriteResult[];

  /** Writes documents one after another and notes each that was acknowledged, until the process is gone. */
  async function writeUntilGone(on: FolderProcess, prefix: string, log: WriteLog): Promise<void> {
    for (let i = 0; ; i++) {
      try {
        const [result] = await write(on, [`${prefix}-${i}`]);
        if (result!.kind === 'done') log.acknowledge(`${prefix}-${i}`);
      } catch (error) {
        const { code } = error as { code?: string };
        if (code === 'gone') return;
        // The owner died in the middle of this write; it may be made again.
        expect(code).toBe('store_unavailable');
        log.refused += 1;
        i--;
      }
    }
  }

  it('loses nothing when two processes write at once, and each sees the other', async () => {
    const [a, b] = await Promise.all([start(), start()]);
    await Promise.all([a.ask({ do: 'prepare' }), b.ask({ do: 'prepare' })]);
    for (let round = 0; round < 10; round++)
      await Promise.all([
        write(a, [...ids(`a${round}`, 20), 'both']),
        write(b, [...ids(`b${round}`, 20), 'both'], round + 1),
      ]);
    expect(await a.ask({ do: 'count' })).toEqual({ documents: 401, chunks: 401 });
    expect(await b.ask({ do: 'count' })).toEqual({ documents: 401, chunks: 401 });
    expect(await a.ask({ do: 'texts', documentId: 'both' })).toEqual(['both at 10']);
  });

  it('is read by another process while its owner writes', async () => {
    const [owner, reader] = await Promise.all([start(), start()]);
    await owner.ask({ do: 'prepare' });
    const seen: number[] = [];
    let rounds = 0;
    // Until the other one has seen it in the middle.
    const writing = (async () => {
      for (; rounds < 20 || new Set(seen).size < 4; rounds++) await write(owner, ids(`r${rounds}`, 25));
    })();
    let over = false;
    void writing.finally(() => (over = true));
    while (!over) {
      const { documents, chunks } = (await reader.ask({ do: 'count' })) as {
        documents: number;
        chunks: number;
      };
      expect(chunks).toBe(documents);
      seen.push(documents);
    }
    await writing;
    expect(seen).toEqual([...seen].sort((x, y) => x - y));
    expect(new Set(seen).size).toBeGreaterThan(2);
    const all = 25 * rounds;
    expect(await reader.ask({ do: 'count' })).toEqual({ documents: all, chunks: all });
  });

  it('goes to another process at once when its owner is killed, with all that was acknowledged', async () => {
    const [owner, other] = await Promise.all([start(), start()]);
    await owner.ask({ do: 'prepare' });
    const log = new WriteLog();
    const both = [writeUntilGone(owner, 'owner', log), writeUntilGone(other, 'other', log)];
    const ended = Promise.all(both).then(() => {
      throw new Error('Nobody writes any more.');
    });
    await Promise.race([log.reaches(60), ended]);
    await owner.kill('SIGKILL');
    await Promise.race([log.reaches(log.acknowledged.length + 30), ended]);
    // The one that was under way: the next one already took the folder over, and waited for nothing to run out.
    expect(log.refused).toBeLessThanOrEqual(1);
    await other.kill('SIGKILL');
    await expect(ended).rejects.toThrow('Nobody writes any more.');

    const third = await start();
    const { documents, chunks } = (await third.ask({ do: 'count' })) as { documents: number; chunks: number };
    expect(chunks).toBe(documents);
    // Beside the acknowledged ones, at most the write that was under way in each process.
    expect(documents).toBeGreaterThanOrEqual(log.acknowledged.length);
    expect(documents).toBeLessThanOrEqual(log.acknowledged.length + 2);
    const again = await write(third, log.acknowledged);
    expect(again.filter(({ kind }) => kind !== 'stale')).toEqual([]);
  });

  it('goes to another process when its owner closes it', async () => {
    const [owner, other] = await Promise.all([start(), start()]);
    await owner.ask({ do: 'prepare' });
    await write(owner, ['a']);
    expect(await other.ask({ do: 'count' })).toEqual({ documents: 1, chunks: 1 });
    await owner.ask({ do: 'close' });
    expect((await write(other, ['b'])).map(({ kind }) => kind)).toEqual(['done']);
    expect(await other.ask({ do: 'count' })).toEqual({ documents: 2, chunks: 2 });
  });

  it.each(['close', 'SIGKILL'] as const)('answers what was asked while its owner ended (%s)', async (end) => {
    const [owner, reader] = await Promise.all([start(), start()]);
    await owner.ask({ do: 'prepare' });
    await write(owner, ids('d', 5));
    const count = () => reader.ask({ do: 'count' });
    await count();
    const asked = Array.from({ length: 50 }, count);
    const over = end === 'close' ? owner.ask({ do: end }) : owner.kill(end);
    asked.push(...Array.from({ length: 200 }, count));
    for (const answer of await Promise.all(asked)) expect(answer).toEqual({ documents: 5, chunks: 5 });
    await over;
  });

  it('has one owner when many processes come at once', async () => {
    const many = await Promise.all(Array.from({ length: 5 }, start));
    await Promise.all(many.map((one) => one.ask({ do: 'prepare' })));
    await Promise.all(many.map((one, i) => write(one, ids(`p${i}`, 10))));
    expect(await readdir(join(folder, 'owner'))).toHaveLength(1);
    expect(await many[0]!.ask({ do: 'count' })).toEqual({ documents: 50, chunks: 50 });
  });

  it('works at a path longer than a socket address', async () => {
    folder = join(folder, 'a'.repeat(90), 'b'.repeat(90));
    const [owner, other] = await Promise.all([start(), start()]);
    await owner.ask({ do: 'prepare' });
    await write(other, ['a']);
    expect(await owner.ask({ do: 'count' })).toEqual({ documents: 1, chunks: 1 });
    folder = join(folder, '..', '..');
  });

  it('is not made by a process that only reads', async () => {
    const store = await createPgliteStore(
      pgliteConfig.parse({ path: folder, index: 'off' }),
      testContext('p', '/'),
    );
    expect(await store.count()).toEqual({ documents: 0, chunks: 0 });
    expect(await store.artifacts.read('chain')).toBeUndefined();
    await store.close();
    await expect(access(folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is made anew when a process died while it made it', async () => {
    await mkdir(join(folder, 'unfinished-123', 'base'), { recursive: true });
    const store = await createPgliteStore(
      pgliteConfig.parse({ path: folder, index: 'off' }),
      testContext('p', '/'),
    );
    await store.prepare(layout);
    expect((await store.sink.write([storing('a', 1, ['one'])]))[0]!.kind).toBe('done');
    await store.close();
    expect((await readdir(folder)).sort()).toEqual(['owner', 'pgdata', 'synced-at']);
  });

  it('is claimed by one, and free again when that one releases it', async () => {
    await mkdir(folder);
    const first = await claimFolder(folder, (socket) => socket.resume());
    expect(first).toBeDefined();
    expect(await claimFolder(folder, () => undefined)).toBeUndefined();
    await first!.release();
    const next = await claimFolder(folder, () => undefined);
    expect(next).toBeDefined();
    await next!.release();
    expect(await readdir(join(folder, 'owner'))).toEqual([]);
  });

  it('has no owner for those who reach it just as its owner ends', async () => {
    await mkdir(folder);
    // Hung up on at once, as by a process that is killed.
    const claim = await claimFolder(folder, (socket) => socket.destroy());
    const joined = await Promise.all(Array.from({ length: 20 }, () => joinOwner(folder)));
    expect(joined.filter((session) => session !== undefined)).toEqual([]);
    await claim!.release();
  });

  it('is never claimed by two of many that try at once', async () => {
    await mkdir(folder);
    let held = 0;
    let won = 0;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let attempt = 0; attempt < 15; attempt++) {
          const claim = await claimFolder(folder, (socket) => socket.resume());
          if (claim === undefined) continue;
          held++;
          won++;
          await new Promise((resolve) => setTimeout(resolve, 2));
          expect(held).toBe(1);
          held--;
          await claim.release();
        }
      }),
    );
    expect(won).toBeGreaterThan(0);
  });
});

/** What several processes were told is in the store. */
class WriteLog {
  readonly acknowledged: string[] = [];
  /** Writes of which the owner did not say whether they are in. */
  refused = 0;
  readonly #waiting = new Set<{ readonly count: number; resolve(): void }>();

  acknowledge(id: string): void {
    this.acknowledged.push(id);
    for (const one of this.#waiting) if (this.acknowledged.length >= one.count) one.resolve();
  }

  /** Resolves once so many writes were acknowledged. */
  reaches(count: number): Promise<void> {
    if (this.acknowledged.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ count, resolve }));
  }
}
