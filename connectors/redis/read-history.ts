import type { HistoryContext } from '../../src/contracts/source.js';
import type { SourceElement } from '../../src/elements/document.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { connect } from './client.js';
import type { RedisSourceConfig } from './config.js';
import { decodeEntry } from './decode.js';
import { zeroId, type EntryId } from './entry-id.js';
import { EntryVersions } from './entry-versions.js';
import { fresh, type StreamMemory } from './memory.js';
import { refused } from './refusal.js';
import { streamInfo } from './stream-info.js';

/**
 * Every entry of a stream, in order, read beside its groups.
 * @throws MillraceError `source_gap` when the stream has not all that was ever added to it; `source_unavailable`
 */
export async function* readHistory(
  config: RedisSourceConfig,
  { signal, maxItemBytes, state }: HistoryContext,
): AsyncGenerator<SourceElement> {
  const { epoch } = ((await state.read()) as StreamMemory | undefined) ?? fresh;
  const options = { fields: config.fields, versions: new EntryVersions(epoch), maxItemBytes };
  const client = await connect(config, { name: 'millrace history', patient: false });
  try {
    if ((await client.exists(config.stream)) === 0) return;
    const about = (await client.xinfo('STREAM', config.stream)) as unknown[];
    checkWhole(config, streamInfo(about, [], ''));
    for (let after: EntryId = zeroId; ;) {
      signal.throwIfAborted();
      const entries = await client.xrange(config.stream, `(${after}`, '+', 'COUNT', config.count);
      for (const [id, fields] of entries) yield decodeEntry({ id, fields }, options);
      const last = entries.at(-1);
      if (last === undefined) return;
      [after] = last;
    }
  } catch (error) {
    if (signal.aborted || error instanceof MillraceError) throw error;
    throw refused(config, error);
  } finally {
    client.disconnect();
  }
}

function checkWhole(
  { stream }: RedisSourceConfig,
  { added, length }: { readonly added: number | undefined; readonly length: number },
): void {
  if (added === length) return;
  throw new MillraceError(
    'source_gap',
    added === undefined
      ? `Before Redis 7 nobody can tell whether the stream ${stream} was trimmed.`
      : `The stream ${stream} was trimmed: it has ${length} of its ${added} entries.`,
    {
      hint: 'Keep texts from now on (`keepText: true` on the sink), and have the documents added to the stream once more.',
    },
  );
}
