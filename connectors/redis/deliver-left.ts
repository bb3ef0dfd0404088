import type { Delivery } from '../../src/contracts/source.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Commands } from './commands.js';
import { failUnread } from './decode.js';
import type { Rounds } from './rounds.js';
import { claim, takeOver, type TakeoverOptions } from './takeover.js';

/** Hands over what others left behind. */
export async function* deliverLeft(
  reader: Commands,
  rounds: Rounds,
  options: TakeoverOptions,
  signal: AbortSignal,
): AsyncGenerator<Delivery> {
  const { held, config } = options;
  const { entries, suspects, hopeless } = await takeOver(reader, options);
  const [untried, lost] = [rounds.hold(entries), rounds.hold(hopeless)];
  if (entries.length > 0) yield rounds.deliver(untried);
  if (hopeless.length > 0)
    yield rounds.deliver(lost, (element) =>
      failUnread(
        element,
        new MillraceError(
          'item_hopeless',
          `Its entry was delivered more than ${config.maxDeliveries + 1} times and never confirmed: each time the process ended or got stuck, the last time with nothing else under way.`,
          { hint: 'Look at what ends the process (memory, a crash of the model), then replay it.' },
        ),
      ),
    );
  for (const id of suspects) {
    // Nothing else is under way while it is tried, so that nothing else can be blamed or harmed.
    await held.empty(signal);
    if (signal.aborted) return;
    const alone = await claim(reader, [id], options);
    if (alone.length === 0) continue;
    yield rounds.deliver(rounds.hold(alone));
    await held.empty(signal);
  }
}
