import { messageOf } from './message-of.js';

/** The messages of an error and of its causes, outermost first, at most `depth` of them. */
export function causeMessages(error: unknown, depth = 8): string[] {
  const messages: string[] = [];
  for (let at: unknown = error; at !== undefined && at !== null && messages.length < depth;) {
    // A connection tried at several addresses fails without a message of its own.
    if (at instanceof AggregateError && at.message === '' && at.errors.length > 0) at = at.errors[0];
    messages.push(messageOf(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return messages;
}
