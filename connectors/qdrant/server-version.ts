import { MillraceError } from '../../src/errors/millrace-error.js';
import type { QdrantPort } from './port.js';

const least = [1, 16] as const;

/** @throws MillraceError `config_invalid` for a server that cannot change a point on a condition: writers would overwrite each other */
export async function checkServer(port: QdrantPort, signal?: AbortSignal): Promise<void> {
  const version = await port.version(signal);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return;
  throw new MillraceError(
    'config_invalid',
    `Qdrant ${version} is too old: it changes points without looking at what they are.`,
    { hint: `Use Qdrant ${least.join('.')} or newer.` },
  );
}
