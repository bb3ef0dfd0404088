import { pgliteConfig } from '../../../connectors/postgres/config.js';
import { createPgliteStore } from '../../../connectors/postgres/pglite-store.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { layout, storing, textsOf } from '../../suites/store-samples.js';
import { testContext } from '../../support/test-context.js';

/** A process of its own on a PGlite folder, told by messages what to do. */
export type FolderCommand =
  | { readonly do: 'prepare' }
  | { readonly do: 'write'; readonly ids: readonly string[]; readonly position: number }
  | { readonly do: 'count' }
  | { readonly do: 'texts'; readonly documentId: string }
  | { readonly do: 'close' };

export interface FolderAnswer {
  readonly id: number;
  readonly value?: unknown;
  readonly code?: string;
}

const folder = process.argv[2]!;
const store = await createPgliteStore(
  pgliteConfig.parse({ path: folder, index: 'off' }),
  testContext('shared', '/'),
);

async function run(command: FolderCommand): Promise<unknown> {
  switch (command.do) {
    case 'prepare':
      return store.prepare(layout);
    case 'write':
      return store.sink.write(
        command.ids.map((id) => storing(id, command.position, [`${id} at ${command.position}`])),
      );
    case 'count':
      return store.count();
    case 'texts':
      return textsOf(store, command.documentId);
    case 'close':
      return store.close();
    default:
      return command satisfies never;
  }
}

process.on('message', ({ id, command }: { id: number; command: FolderCommand }) => {
  run(command).then(
    (value) => process.send!({ id, value } satisfies FolderAnswer),
    (error: unknown) => process.send!({ id, code: MillraceError.from(error).code } satisfies FolderAnswer),
  );
});
process.send!({ id: 0 } satisfies FolderAnswer);
