import type { z } from 'zod';

/** A check that of the handlers which may be named exactly one is. */
export function nameOneHandler(handlers: readonly string[], example: string) {
  return (spec: object, context: z.RefinementCtx): void => {
    const named = Object.entries(spec).filter(
      ([name, options]) => options !== undefined && handlers.includes(name),
    ).length;
    if (named === 1) return;
    context.addIssue({
      code: 'custom',
      message: `Name one handler (${handlers.join(', ')}), such as ${example}; ${named} are named here.`,
    });
  };
}
