import { z } from 'zod';

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A time span as people write it (`500ms`, `30s`, `15m`, `1h`, `30d`); read as milliseconds. */
export const duration = z
  .string()
  .regex(/^\d{1,9}(ms|s|m|h|d)$/, 'expected a number with its unit, such as 500ms, 30s, 15m, 1h or 30d')
  .transform((text) => {
    const [, count, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) as unknown as [
      string,
      string,
      keyof typeof units,
    ];
    return Number(count) * units[unit];
  });
