import { z } from 'zod';
import { MillraceError } from '../../../../errors/millrace-error.js';
import { unusable } from '../post-json.js';

const reply = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
      }),
    )
    .min(1),
});

/** Characters of the model's own words in an error. */
const excerpt = 300;

/**
 * What the model said, whole.
 * @throws MillraceError `inference_failed` for a refusal or an answer that was cut; `remote_unavailable` for an answer
 * that is none of this API
 */
export function readAnswer(value: unknown, address: string): string {
  const read = reply.safeParse(value);
  if (!read.success) throw unusable(address, 'JSON that holds no message of a model');
  const { finish_reason: end, message } = read.data.choices[0]!;
  if (message.refusal) throw failed(`The model refused: ${message.refusal.slice(0, excerpt)}`);
  if (end === 'length')
    throw failed('The answer was cut at its most tokens.', 'Raise maxTokens, or ask for less.');
  if (end === 'content_filter') throw failed('The service kept the answer back (content_filter).');
  if (!message.content) throw failed('The model said nothing.');
  return message.content;
}

function failed(message: string, hint?: string): MillraceError {
  return new MillraceError('inference_failed', message, hint === undefined ? {} : { hint });
}
