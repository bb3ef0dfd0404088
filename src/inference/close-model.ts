import type { Clock, Notice } from '../contracts/context.js';
import { MillraceError } from '../errors/millrace-error.js';
import { within } from '../flow/within.js';

export interface CloseModelOptions {
  /** For messages. */
  readonly name: string;
  readonly clock: Clock;
  /** Hears of a model whose closing failed or took too long (`model_not_closed`). */
  onNotice?: ((notice: Notice) => void) | undefined;
}

/** How long a model may take to close. */
const closeMs = 60_000;

/** Closes a model that nobody uses. It never rejects: a model that cannot be closed must not hold up those after it. */
export async function closeModel(
  model: { close(): Promise<void> },
  { name, clock, onNotice }: CloseModelOptions,
): Promise<void> {
  const late = () => new MillraceError('internal', `it is not done after ${closeMs / 1000} s`);
  const { signal } = new AbortController();
  try {
    await within({ ms: closeMs, clock, signal, late }, async () => model.close());
  } catch (thrown) {
    onNotice?.({
      level: 'warn',
      code: 'model_not_closed',
      message: `Model ${name}, which is not used any more, could not be closed (${MillraceError.from(thrown).message}): what it holds may be held until the end.`,
    });
  }
}
