import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectorContext, Notice } from '../../src/contracts/context.js';

export interface TestContext extends ConnectorContext {
  readonly notices: Notice[];
}

/** What a connector is given, with the real clock; notices are kept to look at. */
export function testContext(pipeline = 'test', baseFolder = '/nonexistent'): TestContext {
  const notices: Notice[] = [];
  return {
    pipeline,
    baseFolder,
    clock: {
      now: () => Date.now(),
      sleep: async (ms, signal) => {
        await delay(ms, undefined, signal === undefined ? {} : { signal });
      },
    },
    notify: (notice) => notices.push(notice),
    notices,
  };
}
