import { MillraceError } from '../../src/errors/millrace-error.js';
import type { HttpLookupConfig } from './config.js';
import type { Call } from './exchange.js';

/** The call for keys: each stands where the templates say, encoded so that it stays one part of a path or query. */
export function requestOf({ url, method, body, headers }: HttpLookupConfig, keys: readonly string[]): Call {
  const encoded = keys.map(encodeURIComponent);
  const text = url.replace(/\{keys?\}/g, () => encoded.join(','));
  // Parts such as `..` are no parts: the address would be another one.
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(text.replace(/\?.*$/s, '')))
    throw new MillraceError(
      'transform_failed',
      `The key ${JSON.stringify(keys.join(','))} cannot stand in an address.`,
      { hint: 'Put the key into the query of `http.url` instead of its path.' },
    );
  return {
    url: new URL(text),
    method,
    headers,
    body: body?.replace(/\{keys\}|\{key\}/g, (place) => JSON.stringify(place === '{keys}' ? keys : keys[0])),
  };
}
