import type { ErrorCode } from '../errors/codes.js';

/** What follows from an error. */
export type Policy =
  /** Try the same call again after each delay in turn, then treat it as `then` says. */
  | { readonly action: 'retry'; readonly delaysMs: readonly number[]; readonly then: 'fail' | 'stop' }
  /** An outage: try again for ever, the last delay repeating, and tell the operator. Nothing is lost meanwhile. */
  | { readonly action: 'pause'; readonly delaysMs: readonly number[] }
  /** The element becomes a failed element; the others go on. */
  | { readonly action: 'fail' }
  /** The run ends; nothing that is under way is acknowledged. */
  | { readonly action: 'stop' };

const outage: Policy = { action: 'pause', delaysMs: [200, 500, 1_000, 2_000, 5_000, 10_000, 30_000] };
const brief: Policy = { action: 'retry', delaysMs: [20, 100, 500], then: 'fail' };
const fail: Policy = { action: 'fail' };
const stop: Policy = { action: 'stop' };

/** The one table from error code to what is done about it. */
export const errorPolicy: { readonly [code in ErrorCode]: Policy } = {
  config_invalid: stop,
  artifact_mismatch: stop,
  model_not_found: stop,
  model_corrupt: stop,
  model_unsupported: stop,
  runtime_missing: stop,
  probe_failed: stop,
  model_lost: stop,
  device_unavailable: stop,
  resources_insufficient: stop,
  remote_unavailable: outage,
  // Its lane waits for the operator; other lanes go on.
  remote_refused: { action: 'pause', delaysMs: [5_000, 30_000, 60_000] },
  rate_limited: outage,
  remote_failed: { action: 'retry', delaysMs: [200, 1_000, 4_000], then: 'fail' },
  source_unavailable: stop,
  source_changed: stop,
  source_gap: stop,
  source_behind: stop,
  item_unreadable: fail,
  item_malformed: fail,
  item_too_large: fail,
  item_hopeless: fail,
  mass_deletion: stop,
  transform_failed: fail,
  route_unknown: fail,
  inference_failed: fail,
  embedding_invalid: fail,
  out_of_memory: fail,
  worker_crashed: { action: 'retry', delaysMs: [0], then: 'fail' },
  store_locked: stop,
  store_unavailable: outage,
  store_conflict: brief,
  store_refused: fail,
  store_layout: stop,
  generation_moved: stop,
  generation_refused: stop,
  owner_mismatch: fail,
  failed_sink_unavailable: outage,
  aborted: stop,
  internal: fail,
};

/** Errors that may lie with one item of a batch: the batch is split until that item is alone. */
export function mayBeOneItem(code: ErrorCode): boolean {
  const { action } = errorPolicy[code];
  return action === 'fail' || action === 'retry';
}
