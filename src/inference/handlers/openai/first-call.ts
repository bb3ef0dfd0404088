import type { Clock } from '../../../contracts/context.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import type { Chance } from '../../../flow/chance.js';
import { retry } from '../../../flow/retry.js';

export interface Patience {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly signal: AbortSignal;
}

/** A service that is down when a model is opened is given some 4 seconds. */
const tries = 4;

/** The call that opens a model. A service that is down is waited for a little; a refusal no waiting mends. */
export async function firstCall<Result>(
  call: () => Promise<Result>,
  { clock, chance, signal }: Patience,
): Promise<Result> {
  let refused: MillraceError | undefined;
  const result = await retry(
    async () => {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof MillraceError) || error.code !== 'remote_refused') throw error;
        refused = error;
        return undefined;
      }
    },
    { clock, chance, signal, maxTries: tries },
  );
  if (refused !== undefined) throw refused;
  return result as Result;
}
