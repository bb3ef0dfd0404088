import type { MillraceError } from '../errors/millrace-error.js';
import type { RunEvent } from './events.js';

/** What a server of models tells of itself, beside the batches, retries and notices that a run has too. */
export type ServerEvent =
  | { readonly type: 'listening'; readonly url: string }
  | { readonly type: 'model-loaded'; readonly model: string; readonly modelId: string; readonly ms: number }
  | { readonly type: 'ready'; readonly url: string }
  | {
      readonly type: 'request';
      /** `embeddings`, `models`, `health`, `metrics` or `other`. */
      readonly route: string;
      /** HTTP status; 499 when the client left. */
      readonly status: number;
      readonly texts: number;
      readonly tokens: number;
      readonly ms: number;
      /** Of answered embeddings; the second includes waiting for a batch. */
      readonly stages?: { readonly tokenizeMs: number; readonly embedMs: number };
    }
  /** A request failed by a fault of the server. */
  | { readonly type: 'request-failed'; readonly route: string; readonly error: MillraceError }
  | { readonly type: 'stopped'; readonly end: 'drained' | 'aborted' };

export type ServerReport = (event: RunEvent | ServerEvent) => void;
