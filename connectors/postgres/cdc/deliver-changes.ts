import type { Delivery } from '../../../src/contracts/source.js';
import type { Assembled } from './assembly.js';
import type { Session } from './session.js';

/** Hands over what came by the stream: the watermark of the session passes what is settled. */
export function* deliverChanges(
  session: Session,
  assembled: Assembled,
  settled: (settle: () => void) => Promise<void>,
): Generator<Delivery> {
  const { watermark } = session;
  if (assembled.kind === 'elements') {
    const { elements, committedAt, passed } = assembled;
    if (passed !== undefined) session.position = passed;
    const stretch = watermark.add(committedAt, passed);
    yield { kind: 'elements', elements, settle: () => settled(() => watermark.settle(stretch)) };
    return;
  }
  const stretch = watermark.add(assembled.committedAt, undefined);
  const { plans, since } = assembled;
  for (const [at, { table }] of plans.entries())
    yield {
      kind: 'cleared',
      scope: { prefix: table.mapping.prefix, except: [], since },
      commanded: true,
      settle: async () => {
        if (at === plans.length - 1) await settled(() => watermark.settle(stretch));
      },
    };
}
