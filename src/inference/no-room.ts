import { MillraceError } from '../errors/millrace-error.js';
import type { LoadedModel, ModelLimits } from './manager.js';

/** Why a model cannot be loaded beside what is loaded. */
export function noRoom(
  { name, bytes }: Pick<LoadedModel, 'name' | 'bytes'>,
  others: readonly LoadedModel[],
  { maxBytes = Infinity, maxModels = Infinity }: ModelLimits,
): MillraceError {
  const limits = [
    ...(maxModels === Infinity ? [] : [`${maxModels} models`]),
    ...(maxBytes === Infinity ? [] : [`${megabytes(maxBytes)} MB`]),
  ];
  const loaded = others.map(({ name, bytes, uses, pinned }) => {
    const held = pinned ? 'pinned' : `${uses} uses`;
    return `${name} (${megabytes(bytes)} MB, ${held})`;
  });
  return new MillraceError(
    'resources_insufficient',
    `There is no room for model ${name} (${megabytes(bytes)} MB): at most ${limits.join(' with ')} may be loaded, and now loaded: ${loaded.join(', ') || 'none'}`,
    { hint: 'Raise models.maxBytes or models.maxLoaded, or let fewer models be used at once.' },
  );
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
