import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Connectors } from '../../src/config/schema.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { Releasers } from '../../src/flow/releasers.js';
import { Stop } from '../../src/flow/stop.js';
import type { PipelineSpec } from '../../src/pipeline/spec.js';
import type { ModelTarget } from '../../src/runtime/model-target.js';
import { startRefresh } from '../../src/runtime/start-refresh.js';
import { VirtualClock } from '../support/virtual-clock.js';

test('where news of models cannot be had, nothing is left that watches', async () => {
  const clock = new VirtualClock();
  const target: ModelTarget = {
    model: './topics',
    revision: undefined,
    ref: { kind: 'folder', path: '/nonexistent' },
    commit: () => Promise.reject(new Error('a folder has none')),
    refresh: async () => ({ result: 'unchanged', from: 'a', to: 'a' }),
  };
  const broken = () => Promise.reject(new MillraceError('runtime_missing', 'no driver'));
  const started = startRefresh({
    spec: {
      refresh: {
        ...{ watch: ['./topics'], everyMs: 1_000, allow: [] },
        events: { connector: 'broken', config: {} },
      },
    } as unknown as PipelineSpec,
    models: {
      targets: [target],
      embedding: () => Promise.reject(new Error('not asked for')),
      handler: () => Promise.reject(new Error('not asked for')),
    },
    context: {
      connectors: { broken: { updates: { load: broken } } } as unknown as Connectors,
      clock,
      report: () => undefined,
      releasers: new Releasers(),
    },
    stop: new Stop(clock),
    onControl: undefined,
  });
  await expect(started).rejects.toMatchObject({ code: 'runtime_missing' });
  await sleep(50);
  expect(clock.sleeping).toBe(0);
});
