import { isIP } from 'node:net';
import { z } from 'zod';

const range = z
  .string()
  .refine((text) => {
    const [address = '', bits] = text.split('/');
    const most = isIP(address) === 6 ? 128 : 32;
    return isIP(address) !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most));
  }, 'expected an address or a range, such as 10.1.0.0/16')
  .describe('An address, or a range of them.');

/** Rows by key from an HTTP endpoint that answers with JSON. */
export const httpLookupConfig = z
  .strictObject({
    url: z
      .string()
      .refine(isTemplate, 'expected http(s)://host/path, with {key} or {keys} only behind the host')
      .describe(
        'Address with `{key}` (one key a call) or `{keys}` (many, with commas between them) in its path or query: `https://hr.example.com/authors/{key}`. Secrets belong in `headers`: it is kept in the store.',
      ),
    method: z.enum(['GET', 'POST']).default('GET').describe('How it is called.'),
    body: z
      .string()
      .optional()
      .describe(
        'JSON of a POST, where `{key}` stands for the key as a JSON text and `{keys}` for a list of them: `{"ids": {keys}}`.',
      ),
    headers: z
      .record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'expected the name of a header'), z.string())
      .default({})
      .describe(
        'Headers of every call: `{ authorization: "Bearer ${TOKEN}" }`. They do not follow to another origin.',
      ),
    rows: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Where in the answer the row is, or for `{keys}` the rows: a list, or an object by key. Dots reach into objects. Default: the whole answer.',
      ),
    keyField: z.string().min(1).default('id').describe('Field of each row of a list with its key.'),
    maxKeys: z.int().min(1).max(10_000).default(50).describe('Keys of one call at most, with `{keys}`.'),
    maxBytes: z
      .int()
      .min(1)
      .default(1 << 20)
      .describe('A longer answer is refused, unread.'),
    maxRedirects: z.int().min(0).max(20).default(5).describe('Redirections followed at most (of a GET).'),
    allowPrivate: z
      .union([z.boolean(), z.array(range)])
      .default(false)
      .describe(
        'Whether addresses that are not public (loopback, private networks, link-local) may be called, redirections included; or a list of those that may: `[10.1.0.0/16]`.',
      ),
  })
  .superRefine(({ url, method, body }, context) => {
    const issue = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (method === 'GET' && body !== undefined) issue('body', 'is for `method: POST`');
    const text = `${url} ${body ?? ''}`;
    const places = ['{key}', '{keys}'].filter((place) => text.includes(place));
    if (places.length !== 1) issue('url', 'expected either {key} or {keys}, in the address or in `body`');
  })
  .describe('Looks rows up at an HTTP endpoint that answers with JSON.');

export type HttpLookupConfig = z.output<typeof httpLookupConfig>;

/** No place in the host: a key must not choose whom to call. */
function isTemplate(text: string): boolean {
  const plain = text.replace(/\{keys?\}/g, 'x');
  if (!URL.canParse(plain) || !/^https?:\/\//i.test(text)) return false;
  const { username, password } = new URL(plain);
  return (
    username === '' && password === '' && /^https?:\/\/[^/?#{]+(?=[/?#])/i.test(text) && !text.includes('#')
  );
}
