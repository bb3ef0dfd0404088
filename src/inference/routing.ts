import type { Document } from '../elements/document.js';
import { readField } from '../elements/field-path.js';
import { messageOf } from '../errors/message-of.js';
import { MillraceError } from '../errors/millrace-error.js';
import { isStrayPromise } from './stray-promise.js';

/** What gives a document its key: a path into its metadata (`metadata.lang`), or a function. */
export type RouteBy = string | ((document: Document) => string);

export interface RouteRule {
  /** Absent: every document has the default key. */
  readonly route?: RouteBy | undefined;
  /** Models of a key, for keys that are no model's name, or that go to several. */
  readonly keys: { readonly [key: string]: readonly string[] };
  /** Names of the models; the name of a model is also its key. */
  readonly models: readonly string[];
}

/** One model under the default key, or several by name with the way among them. */
export interface Routed<Model> extends Omit<RouteRule, 'models'> {
  readonly models: { readonly [name: string]: Model };
}

/** The configuration names several models, or one under a name of its own. */
export function isKeyed({ models }: Routed<unknown>): boolean {
  return Object.keys(models).some((name) => name !== defaultKey);
}

/** The models that a document goes through; equal routes are one array. @throws MillraceError `route_unknown` */
export type Router = (document: Document) => readonly string[];

/** Key of every document that has no other one. */
export const defaultKey = '*';

/** Every list of models that a document may go through, each once. */
export function routesOf({ route, keys, models }: RouteRule): readonly (readonly string[])[] {
  const all = [...Object.values(keys), ...models.map((name) => [name])];
  const reachable = route === undefined ? [keys[defaultKey] ?? [defaultKey]] : all;
  return [...new Map(reachable.map((names) => [routeName(names), names])).values()];
}

/** The same for the same models in any order. */
export function routeName(models: readonly string[]): string {
  return [...models].sort().join('+');
}

export function createRouter(rule: RouteRule): Router {
  const routes = routesByKey(rule);
  const fallback = routes.get(defaultKey);
  return (document) => {
    const key = keyOf(document, rule.route);
    const names = (key === undefined ? undefined : routes.get(key)) ?? fallback;
    if (names !== undefined) return names;
    const what = key === undefined ? noKey(document, String(rule.route)) : `the route ${JSON.stringify(key)}`;
    throw unknownRoute(
      `The document ${JSON.stringify(document.id)} has ${what}, for which there is no model.`,
    );
  };
}

/** The models of a key, or of the default. @throws MillraceError `route_unknown` */
export function routeOfKey(rule: RouteRule, key: string): readonly string[] {
  const routes = routesByKey(rule);
  const names = routes.get(key) ?? routes.get(defaultKey);
  if (names !== undefined) return names;
  throw unknownRoute(`There is no model for the route ${JSON.stringify(key)}.`);
}

function routesByKey({ keys, models }: RouteRule): Map<string, readonly string[]> {
  const routes = new Map(models.map((name) => [name, [name] as readonly string[]]));
  for (const [key, names] of Object.entries(keys)) routes.set(key, names);
  return routes;
}

function unknownRoute(message: string): MillraceError {
  return new MillraceError('route_unknown', message, {
    hint: `Name a model for it, or a default under "${defaultKey}".`,
  });
}

function noKey(document: Document, route: string): string {
  const value = readField(document, route) ?? undefined;
  return value === undefined ? `no ${route}` : `no ${route} that is one value, but a list or an object`;
}

const routeHint = 'It returns the key of a document as a text, at once, and throws for none.';

function keyOf(document: Document, route: RouteBy | undefined): string | undefined {
  if (route === undefined) return undefined;
  if (typeof route === 'string') {
    const value = readField(document, route);
    return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
  }
  const named = `The route function, given the document ${JSON.stringify(document.id)},`;
  let key: unknown;
  try {
    key = route(document);
  } catch (cause) {
    const said = messageOf(cause);
    throw new MillraceError('route_unknown', `${named} failed: ${said}`, { cause, hint: routeHint });
  }
  if (typeof key === 'string') return key;
  throw new MillraceError('route_unknown', `${named} gave ${refusedKind(key)}, not a text.`, {
    hint: routeHint,
  });
}

/** What a function gave that is no text. */
function refusedKind(value: unknown): string {
  if (isStrayPromise(value)) return 'a promise';
  return value === null ? 'null' : typeof value;
}
