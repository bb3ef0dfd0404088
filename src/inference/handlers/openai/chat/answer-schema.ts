import { z } from 'zod';
import type { Json } from '../../../../elements/metadata.js';
import { messageOf } from '../../../../errors/message-of.js';

export type AnswerSchema =
  | { readonly check: (value: unknown) => string | undefined; readonly fault?: never }
  | { readonly fault: string; readonly check?: never };

/**
 * A check of values against a JSON Schema of an object: it says what is wrong, or undefined.
 * @returns a fault in place of it for what is no such schema, or says more than can be checked here
 */
export function answerSchema(schema: { readonly [key: string]: Json }): AnswerSchema {
  if (schema['type'] !== 'object')
    return { fault: 'expected the JSON Schema of an object: { type: object, … }' };
  try {
    const checker = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    return {
      check: (value) => {
        const issue = checker.safeParse(value).error?.issues[0];
        return issue === undefined ? undefined : `${issue.path.join('.') || 'the whole'}: ${issue.message}`;
      },
    };
  } catch (error) {
    return { fault: `cannot be checked here: ${messageOf(error)}` };
  }
}
