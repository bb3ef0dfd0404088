import type { MillraceError } from '../errors/millrace-error.js';

/** What became of an element. All may be acknowledged: a failure is an outcome only once it is durable. */
export type Outcome =
  /** The store now holds exactly the chunks of this version. */
  | { readonly kind: 'stored'; readonly chunks: number; readonly embedded: number }
  /** The store held this content already; only its version was raised. */
  | { readonly kind: 'unchanged' }
  /** The store holds a newer version; nothing was changed. */
  | { readonly kind: 'stale' }
  /** The store holds no chunk of this document any more. */
  | { readonly kind: 'deleted' }
  /** A record of the failure is durable in the failed-element sink. */
  | { readonly kind: 'failed'; readonly error: MillraceError };

export type OutcomeKind = Outcome['kind'];
