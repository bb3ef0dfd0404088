import type { ErrorCode } from '../../../errors/codes.js';
import { MillraceError } from '../../../errors/millrace-error.js';

export interface Refusal {
  /** Address of the call, without secrets. */
  readonly address: string;
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** Beginning of the body, without secrets. */
  readonly body: string;
}

/** Characters of the service's own words in an error. */
const excerpt = 500;

/** What an answer with another status than 2xx means. */
export function refusal({ address, status, retryAfterMs, body }: Refusal): MillraceError {
  const { message, code } = ownWords(body);
  const kind = classify(status, code);
  const hint = hints[kind];
  return new MillraceError(
    kind,
    `${address} answered ${status}: ${message.slice(0, excerpt) || 'nothing more'}`,
    {
      retryAfterMs,
      ...(hint !== undefined && { hint }),
    },
  );
}

function classify(status: number, code: string | undefined): ErrorCode {
  if (status === 429) return code === 'insufficient_quota' ? 'remote_refused' : 'rate_limited';
  if (status === 413) return 'item_too_large';
  if (status >= 500 || status === 408 || status === 409 || status === 425) return 'remote_unavailable';
  if (status < 400 || [401, 402, 403, 404, 405].includes(status)) return 'remote_refused';
  return 'inference_failed';
}

const hints: { readonly [code in ErrorCode]?: string } = {
  remote_refused: 'Check url, model and apiKey of this model, and the account behind the key.',
  rate_limited: 'Set rpm and tpm of this model to what the provider allows.',
};

/** The error as OpenAI's API words it, else the body itself. */
function ownWords(body: string): { message: string; code: string | undefined } {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown; code?: unknown } };
    if (typeof error?.message === 'string')
      return { message: error.message, code: typeof error.code === 'string' ? error.code : undefined };
  } catch {
    // It is no JSON, or only the beginning of it.
  }
  return { message: body.trim(), code: undefined };
}
