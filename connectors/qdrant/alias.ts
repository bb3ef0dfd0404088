import type { HeadStore } from './head.js';
import type { Places } from './places.js';
import type { QdrantPort } from './port.js';

/** Points the name for other tools at the chunks of the active generation, which may change meanwhile. */
export async function repairAlias(
  port: QdrantPort,
  heads: HeadStore,
  places: Pick<Places, 'names'>,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    const active = (await heads.read(signal))?.active ?? 1;
    const { alias, chunks } = places.names(active);
    if ((await port.aliases(chunks, signal)).includes(alias)) return;
    await port.alias(alias, chunks, signal);
  }
}
