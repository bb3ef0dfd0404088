import { resolve } from 'node:path';
import type { FailedStore, FailedStoreFactory } from '../../src/contracts/failed-store.js';
import { inWrites } from '../../src/elements/in-writes.js';
import { matchesFailed } from '../../src/elements/matches-failed.js';
import { messageOf } from '../../src/errors/message-of.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { FilesFailedConfig } from './config.js';
import { FailedLog } from './failed-log.js';
import { systemCode } from './file-errors.js';

/** Failed elements in a private folder of JSON Lines. Nothing is made there before the first record. */
export const openFailedFiles: FailedStoreFactory<FilesFailedConfig> = async (config, context) => {
  const { pipeline, baseFolder, notify } = context;
  const folder = resolve(baseFolder, config.path);
  let told = false;
  const log = new FailedLog(folder, () => {
    if (told) return;
    told = true;
    notify({
      level: 'warn',
      code: 'failed_file_damaged',
      message: `Part of the failed elements in ${folder} cannot be read, as after a crash while it was written.`,
    });
  });
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw unavailable(folder, error);
    }
  };

  const store: FailedStore = {
    async put(records) {
      for (const some of inWrites(records)) await guarded(log.put(some));
    },
    async *list(filter) {
      const snapshot = await guarded(log.snapshot());
      if (snapshot === undefined) return;
      try {
        for (const entry of snapshot.entries()) {
          if (entry.pipeline !== pipeline || !entry.documentId.startsWith(filter?.idPrefix ?? '')) continue;
          const record = await guarded(snapshot.read(entry));
          if (record !== undefined && matchesFailed({ ...record, code: record.error.code }, filter))
            yield record;
        }
      } finally {
        await snapshot.close();
      }
    },
    async get(documentId) {
      const snapshot = await guarded(log.snapshot());
      if (snapshot === undefined) return undefined;
      try {
        const entry = snapshot.get(pipeline, documentId);
        return entry && (await guarded(snapshot.read(entry)));
      } finally {
        await snapshot.close();
      }
    },
    discard: (keys) => guarded(log.discard(pipeline, keys)),
    expire: (before) => guarded(log.expire(pipeline, before)),
    close: () => log.close(),
  };
  return store;
};

function unavailable(folder: string, error: unknown): MillraceError {
  const code = systemCode(error);
  const reason = code ?? messageOf(error);
  return new MillraceError(
    'failed_sink_unavailable',
    `Failed elements cannot be kept in ${folder}: ${reason}`,
    {
      cause: error,
      hint: 'Make room on the disk, check the rights of the folder, or name another by `failed.files.path`.',
    },
  );
}
