import type { DocumentWrite } from '../../src/contracts/sink.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { columnBytes } from './column-value.js';
import type { FieldColumn } from './config-columns.js';
import { shownField } from './field-column.js';

const nothing = Buffer.from([0xff, 0xff, 0xff, 0xff]);

/** Why a document does not fit its columns; undefined where it does. */
export function columnsFault(columns: readonly FieldColumn[], write: DocumentWrite): string | undefined {
  if (write.kind !== 'store' || columns.length === 0) return undefined;
  for (const metadata of new Set(write.chunks.map((chunk) => chunk.metadata)))
    for (const column of columns) {
      const fault = faultOf(column, metadata);
      if (fault !== undefined) return fault;
    }
  return undefined;
}

/**
 * The fields of a row for its columns, as binary COPY takes them. Chunks of a document often share one metadata object: it is
 * encoded once.
 * @throws MillraceError `store_refused` where a field holds what its column cannot
 */
export function columnsEncoder(columns: readonly FieldColumn[]): (metadata: Metadata) => Buffer {
  let last: { readonly metadata: Metadata; readonly bytes: Buffer } | undefined;
  return (metadata) => {
    if (last?.metadata !== metadata) last = { metadata, bytes: encode(columns, metadata) };
    return last!.bytes;
  };
}

function encode(columns: readonly FieldColumn[], metadata: Metadata): Buffer {
  return Buffer.concat(
    columns.flatMap((column) => {
      const fault = faultOf(column, metadata);
      if (fault !== undefined)
        throw new MillraceError('store_refused', `A document cannot be stored: ${fault}.`);
      const bytes = columnBytes(column, metadata) ?? undefined;
      if (bytes === undefined) return [nothing];
      const length = Buffer.alloc(4);
      length.writeInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

const shapes = {
  text: 'a text of at most 2,000 bytes',
  'text[]': 'a list of texts of at most 2,000 bytes',
  numeric: 'a number',
  boolean: 'true or false',
  timestamptz: 'a time such as 2024-05-01T12:00:00Z',
} as const;

function faultOf(column: FieldColumn, metadata: Metadata): string | undefined {
  const { name, type, path, wrong } = column;
  if (wrong === 'null' || columnBytes(column, metadata) !== undefined) return undefined;
  return `its metadata field ${shownField(path)} does not hold ${shapes[type]}, which the column ${name} needs (\`wrong: null\` in sink.columns would leave it empty)`;
}
