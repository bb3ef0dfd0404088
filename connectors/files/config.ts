import { z } from 'zod';

const fieldPath = z
  .string()
  .min(1)
  .describe(
    'Name of a field; dots reach into objects (`meta.title`). A name that itself holds dots is found first.',
  );

/** How one line of a JSON Lines file becomes a document. */
export const jsonLinesFields = z.strictObject({
  id: fieldPath.default('id').describe('Field with the id: a string, or a whole number up to 2^53 - 1.'),
  text: z
    .union([fieldPath, z.array(fieldPath).min(1)])
    .default('text')
    .describe('Field with the text, or several: those that are there are joined by a blank line.'),
  metadata: z
    .union([z.literal('rest'), z.array(fieldPath)])
    .default('rest')
    .describe('Fields kept as metadata: `rest` for all but id and text, or a list.'),
});

/** Documents from a folder: each Markdown or text file is one, and each line of a JSON Lines file. */
export const filesSourceConfig = z.strictObject({
  root: z.string().min(1).describe('Folder to read. A relative path starts at the configuration file.'),
  include: z
    .array(z.string().min(1))
    .min(1)
    .default(['**/*.{md,markdown,mdx,txt,jsonl,ndjson}'])
    .describe(
      'Globs of the files to read, relative to the root; upper and lower case count as equal. Folders whose name begins with a dot are read only when a glob names them.',
    ),
  exclude: z
    .array(z.string().min(1))
    .default(['**/node_modules/**'])
    .describe('Globs of files and folders to leave out, relative to the root.'),
  name: z
    .string()
    .min(1)
    .default('files')
    .describe('Owner of the documents in the store: another name for each source of one store.'),
  jsonl: jsonLinesFields.prefault({}).describe('How a line of a `.jsonl` or `.ndjson` file is read.'),
  followSymlinks: z
    .boolean()
    .default(false)
    .describe('Read what symbolic links inside the root lead to. The root itself may always be one.'),
  pollMs: z
    .number()
    .int()
    .min(50)
    .default(1000)
    .describe(
      'While watching: milliseconds from one look at the folder to the next; longer when a look takes long.',
    ),
});

/** Failed elements as JSON Lines in a private folder. */
export const filesFailedConfig = z.strictObject({
  path: z
    .string()
    .min(1)
    .default('.millrace/failed')
    .describe(
      'Folder for the failed elements; it may be shared by several pipelines and processes of one machine. A relative path starts at the configuration file.',
    ),
});

export type JsonLinesFields = z.output<typeof jsonLinesFields>;
export type FilesSourceConfig = z.output<typeof filesSourceConfig>;
export type FilesFailedConfig = z.output<typeof filesFailedConfig>;
