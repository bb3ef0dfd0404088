import { MillraceError } from '../../src/errors/millrace-error.js';
import { replyCode } from './client.js';
import type { RedisSourceConfig } from './config.js';

/**
 * Codes of replies to what may be asked again: the group is gone, or the server is on its way up, changing roles, or short
 * of memory, disk or replicas.
 */
const passing = [
  'NOGROUP',
  'UNBLOCKED',
  'LOADING',
  'READONLY',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'BUSY',
  'OOM',
  'MISCONF',
  'NOREPLICAS',
];

/** Codes of replies that name another server. */
const elsewhere = ['MOVED', 'ASK'];

/** Whether a failed command may pass later: a lost connection may, most error replies never will. */
export function mayPass(error: unknown): boolean {
  const code = replyCode(error);
  return code === undefined || passing.includes(code);
}

/** What stops a reading: the server answers, but will not have it, or was lost while nothing was read yet. */
export function refused({ stream }: RedisSourceConfig, cause: unknown): MillraceError {
  if (mayPass(cause))
    return new MillraceError(
      'source_unavailable',
      `The connection to Redis was lost while ${stream} was looked at.`,
      { cause, hint: 'Is it up, and does it answer within `timeoutMs`?' },
    );
  return new MillraceError('source_unavailable', `Redis refuses to let the stream ${stream} be read.`, {
    cause,
    hint: elsewhere.includes(replyCode(cause) ?? '')
      ? 'The server is one node of a cluster, and another node holds this stream: `url` must name that one.'
      : 'Is the key a stream, and may this user read it (XREADGROUP, XACK, XCLAIM, XPENDING, XINFO, XGROUP)?',
  });
}
