import { MillraceError } from '../errors/millrace-error.js';

/** The environment that a configuration may refer to. */
export type Environment = { readonly [name: string]: string | undefined };

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Puts the values of `${NAME}` into every string of a configuration.
 * @throws MillraceError `config_invalid` for a name that is not set, with the path to the string
 */
export function fillIn(value: unknown, environment: Environment, path = ''): unknown {
  if (typeof value === 'string')
    return value.replace(reference, (_, name: string) => {
      const found = environment[name];
      if (found !== undefined) return found;
      throw new MillraceError(
        'config_invalid',
        `${path === '' ? 'the configuration' : path}: the environment variable ${name} is not set.`,
        {
          hint: `Set it, or write the value in place of \${${name}}.`,
        },
      );
    });
  if (Array.isArray(value))
    return value.map((inner, index) => fillIn(inner, environment, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      fillIn(inner, environment, path === '' ? key : `${path}.${key}`),
    ]),
  );
}
