import type { z } from 'zod';
import type { Engine } from './engine.js';
import { Refusal } from './refusal.js';
import { bodies } from './schemas.js';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

const completed = { operation_id: 0, status: 'completed' } as const;
const changes = new Set(['wait', 'ordering']);
const none = new Set<string>();

/** Answers one request, as the REST API of Qdrant does. @throws Refusal */
export function route(engine: Engine, version: string, { method, path, query, body }: Request): unknown {
  if (method === 'GET' && path === '/')
    return { title: 'qdrant - vector search engine', version, commit: 'double' };
  if (method === 'POST' && path === '/collections/aliases') {
    allow(none);
    return { result: engine.alias(read(bodies.aliases)), status: 'ok', time: 0 };
  }
  const [, name, rest] = /^\/collections\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  if (name === undefined) throw new Refusal(404, `Not found: ${method} ${path}`);
  const collection = checkedName(decodeURIComponent(name));
  const result = answer(`${method} ${rest ?? ''}`);
  return { result, status: 'ok', time: 0 };

  function answer(asked: string): unknown {
    switch (asked) {
      case 'GET ':
        allow(none);
        return engine.describe(collection);
      case 'PUT ': {
        allow(none);
        const unnamed = bodies.createUnnamed.safeParse(body);
        return engine.create(collection, unnamed.success ? unnamed.data : read(bodies.create));
      }
      case 'DELETE ':
        allow(none);
        return engine.drop(collection);
      case 'GET /aliases':
        allow(none);
        return engine.aliases(collection);
      case 'PATCH ':
        allow(none);
        return engine.change(collection, read(bodies.change));
      case 'PUT /index':
        engine.index(collection, read(bodies.index));
        return done();
      case 'PUT /points':
        engine.upsert(collection, read(bodies.upsert));
        return done();
      case 'POST /points/batch': {
        const parsed = read(bodies.batch);
        engine.update(collection, parsed);
        return parsed.operations.map(done);
      }
      case 'POST /points':
        allow(none);
        return engine.retrieve(collection, read(bodies.retrieve));
      case 'POST /points/scroll':
        allow(none);
        return engine.scroll(collection, read(bodies.scroll));
      case 'POST /points/count':
        allow(none);
        return engine.count(collection, read(bodies.count));
      case 'POST /points/query':
        allow(none);
        return engine.query(collection, read(bodies.query));
      default:
        throw new Refusal(404, `Not found: ${method} ${path}`);
    }
  }

  function read<Schema extends z.ZodType>(schema: Schema): z.infer<Schema> {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new Refusal(400, `Format error in JSON body: ${issue!.path.join('.')}: ${issue!.message}`);
  }

  function done() {
    allow(changes);
    return query.get('wait') === 'true' ? completed : { ...completed, status: 'acknowledged' };
  }

  function allow(known: ReadonlySet<string>): void {
    for (const key of query.keys()) if (!known.has(key)) throw new Refusal(400, `Unknown parameter ${key}.`);
  }
}

function checkedName(name: string): string {
  if (name.length <= 255 && !/[<>:"/\\|?*\0\u001f]/.test(name)) return name;
  throw new Refusal(422, `Validation error: collection name ${name}`);
}
