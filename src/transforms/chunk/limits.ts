import { MillraceError } from '../../errors/millrace-error.js';

/** The sizes every chunker has, in tokens of its measure. */
export interface LimitOptions {
  /** Most tokens of a passage, prefix included; at least 1. Default 256. */
  readonly maxTokens?: number | undefined;
  /** Most tokens of the end of a passage that the next one repeats; from 0 to below `maxTokens`. Default 0. */
  readonly overlap?: number | undefined;
  /** A passage of fewer tokens is not ended for the sake of a better break. Default a quarter of `maxTokens`. */
  readonly minTokens?: number | undefined;
}

export interface Limits {
  readonly maxTokens: number;
  readonly overlap: number;
  readonly minTokens: number;
}

/** @throws {MillraceError} `config_invalid`, saying which size is wrong and what it may be. */
export function resolveLimits(options: LimitOptions): Limits {
  const { maxTokens = 256, overlap = 0 } = options;
  const minTokens = options.minTokens ?? Math.floor(maxTokens / 4);
  const fault =
    wholeNumber('maxTokens', maxTokens, 1) ??
    wholeNumber('overlap', overlap, 0) ??
    wholeNumber('minTokens', minTokens, 0);
  if (fault !== undefined) throw new MillraceError('config_invalid', fault);
  const conflict = limitConflict({ maxTokens, overlap, minTokens });
  if (conflict !== undefined) throw new MillraceError('config_invalid', conflict.message);
  return { maxTokens, overlap, minTokens };
}

/** What is wrong between sizes that are each right by themselves. */
export function limitConflict(limits: Limits): { key: 'overlap' | 'minTokens'; message: string } | undefined {
  const { maxTokens, overlap, minTokens } = limits;
  if (overlap >= maxTokens) {
    return {
      key: 'overlap',
      message: `overlap must be smaller than maxTokens (${maxTokens}), not ${overlap}`,
    };
  }
  if (minTokens > maxTokens) {
    return {
      key: 'minTokens',
      message: `minTokens must be at most maxTokens (${maxTokens}), not ${minTokens}`,
    };
  }
  return undefined;
}

function wholeNumber(name: string, value: unknown, least: number): string | undefined {
  if (Number.isSafeInteger(value) && (value as number) >= least) return undefined;
  return `${name} must be a whole number of at least ${least}, not ${String(value)}`;
}
