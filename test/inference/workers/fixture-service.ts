import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import type { Resources } from '../../../src/inference/workers/resources.js';
import type { Service } from '../../../src/inference/workers/service.js';

export interface FixtureOptions {
  readonly label: string;
  readonly failCreate?: boolean;
}

/** A service that does what a test asks of it. */
export async function create(options: FixtureOptions, resources: Resources): Promise<Service> {
  if (options.failCreate === true)
    throw new MillraceError('model_not_found', 'no such model', { hint: 'get one' });
  const shared = await resources.share('counter', () => ({ made: performance.now(), uses: 0 }));
  let calls = 0;
  return {
    methods: {
      where: () => ({ value: { threadId, label: options.label, made: shared.made, calls: ++calls } }),
      sleep: async ({ ms, tag }: { ms: number; tag: unknown }) => {
        await sleep(ms);
        return { value: { tag, threadId, at: performance.timeOrigin + performance.now() } };
      },
      /** Busy until there is such a file. */
      until: async (path: string) => {
        while (!existsSync(path)) await sleep(5);
        return { value: null };
      },
      double: (numbers: Float32Array) => {
        const value = numbers.map((number) => number * 2);
        return { value, transfer: [value.buffer] };
      },
      refuse: () => {
        throw new MillraceError('inference_failed', 'refused', {
          hint: 'ask again',
          cause: new Error('inner'),
        });
      },
      pid: () => ({ value: process.pid }),
      /** Vectors of two components; a text that says so ends the worker. */
      embed: async (texts: readonly string[]) => {
        await sleep(5);
        if (texts.includes('poison')) process.exit(3);
        return { value: texts.map((text) => Float32Array.of(text.length, 1)) };
      },
      exit: () => process.exit(3),
      uncaught: () => {
        setTimeout(() => {
          throw new Error('thrown outside of any call');
        });
        return new Promise<never>(() => undefined);
      },
      exhaust: () => {
        const held: unknown[] = [];
        for (;;) held.push(new Array(1_000_000).fill(held.length).map((x) => ({ x })));
      },
      uncloneable: () => ({ value: () => undefined }),
    },
  };
}
