import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A repository that the double serves at one commit, under one branch. */
export interface HubRepository {
  readonly id: string;
  readonly branch: string;
  readonly commit: string;
  readonly files: Readonly<Record<string, Buffer>>;
  /** When set, every request of the repository must carry it. */
  readonly token?: string;
}

/** What goes wrong with the next download of a file. */
export type HubFault =
  /** The connection breaks after so many bytes. */
  | { readonly kind: 'cut'; readonly after: number }
  /** The connection stays open and silent after so many bytes. */
  | { readonly kind: 'stall'; readonly after: number }
  /** Every byte is served inverted. */
  | { readonly kind: 'corrupt' };

export interface HubRequest {
  readonly path: string;
  readonly range: string | undefined;
}

export interface HubDouble {
  readonly url: string;
  /** Every request so far, those to the content server included. */
  readonly requests: readonly HubRequest[];
  /** Faults of the next downloads of a file, in order. */
  fail(path: string, ...faults: HubFault[]): void;
  /** Serves this from now on in place of the repository of the same name. */
  publish(repository: HubRepository): void;
  close(): Promise<void>;
}

/**
 * Stands in for the model hub on loopback: revision and tree API (in pages of two), downloads by redirect to a content
 * server of another origin, Range. What the real one refuses it refuses too.
 */
export async function startHub(...repositories: HubRepository[]): Promise<HubDouble> {
  const served = new Map(repositories.map((repository) => [repository.id, repository]));
  const faults = new Map<string, HubFault[]>();
  const requests: HubRequest[] = [];

  const content = await listen((request, response) => {
    note(request);
    // A signed address that also carries credentials is refused by the real content server.
    if (request.headers.authorization !== undefined) return refuse(response, 400);
    const address = new URL(request.url ?? '/', 'http://hub');
    const file = served.get(address.searchParams.get('id') ?? '')?.files[address.pathname.slice(1)];
    if (file === undefined) return refuse(response, 404);
    send(request, response, file, faults.get(address.pathname.slice(1))?.shift());
  });

  const api = await listen((request, response) => {
    note(request);
    const address = new URL(request.url ?? '/', 'http://hub');
    const parts = address.pathname.split('/').slice(1).map(decodeURIComponent);
    const isApi = parts[0] === 'api' && parts[1] === 'models';
    const [owner, name, verb, revision, ...rest] = isApi ? parts.slice(2) : parts;
    const repository = served.get(`${owner}/${name}`);
    if (request.method !== 'GET') return refuse(response, 405);
    // The real hub does not tell strangers which repositories exist.
    if (repository === undefined) return refuse(response, 401);
    const { token } = repository;
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
      return refuse(response, 401);
    if (revision !== repository.branch && revision !== repository.commit) return refuse(response, 404);
    if (isApi && verb === 'revision' && rest.length === 0) {
      return json(response, { _id: '1', id: repository.id, sha: repository.commit, private: false });
    }
    if (isApi && verb === 'tree' && rest.length === 0) {
      return sendTree(response, repository, address);
    }
    const path = rest.join('/');
    const file = repository.files[path];
    if (isApi || verb !== 'resolve' || file === undefined) return refuse(response, 404);
    if (!isLarge(path)) return send(request, response, file, faults.get(path)?.shift());
    response.writeHead(302, { location: `${addressOf(content)}/${path}?id=${repository.id}` }).end();
  });

  return {
    url: addressOf(api),
    requests,
    fail: (path, ...next) => void faults.set(path, next),
    publish: (repository) => void served.set(repository.id, repository),
    close: async () => {
      await Promise.all([api, content].map(stop));
    },
  };

  function note(request: IncomingMessage): void {
    const path = new URL(request.url ?? '/', 'http://hub').pathname;
    requests.push({ path, range: request.headers.range });
  }
}

/** The commit, tree and blob ids of the real hub are git's. */
export function gitId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

function isLarge(path: string): boolean {
  return /\.(onnx|safetensors|onnx_data)$/.test(path);
}

function sendTree(response: ServerResponse, { files, id, commit }: HubRepository, address: URL): void {
  if (address.searchParams.get('recursive') !== 'true') return refuse(response, 400);
  const folders = new Set(Object.keys(files).flatMap((path) => path.split('/').slice(0, -1)));
  const entries = [
    ...[...folders].map((path) => ({ type: 'directory', oid: commit, size: 0, path })),
    ...Object.entries(files).map(([path, content]) => {
      const pointer = Buffer.from(`version https://git-lfs.github.com/spec/v1\n${path}\n`);
      if (!isLarge(path)) return { type: 'file', oid: gitId(content), size: content.length, path };
      const lfs = { oid: createHash('sha256').update(content).digest('hex'), size: content.length };
      return {
        type: 'file',
        oid: gitId(pointer),
        size: content.length,
        path,
        lfs: { ...lfs, pointerSize: pointer.length },
      };
    }),
  ];
  const from = Number(address.searchParams.get('cursor') ?? 0);
  const next = `http://${response.req.headers.host}/api/models/${id}/tree/${commit}?recursive=true&cursor=${from + 2}`;
  const more: Record<string, string> = from + 2 < entries.length ? { link: `<${next}>; rel="next"` } : {};
  json(response, entries.slice(from, from + 2), more);
}

function send(request: IncomingMessage, response: ServerResponse, file: Buffer, fault?: HubFault): void {
  const [, start] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
  const from = Number(start ?? 0);
  if (start !== undefined && from >= file.length) return refuse(response, 416);
  const range =
    start === undefined ? {} : { 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` };
  response.writeHead(start === undefined ? 200 : 206, { 'content-length': file.length - from, ...range });
  const rest = file.subarray(from);
  switch (fault?.kind) {
    case undefined:
      response.end(rest);
      return;
    case 'corrupt':
      response.end(rest.map((byte) => 255 - byte));
      return;
    case 'cut':
      response.write(rest.subarray(0, fault.after), () => response.destroy());
      return;
    case 'stall':
      response.write(rest.subarray(0, fault.after));
      return;
    default:
      fault satisfies never;
  }
}

function json(response: ServerResponse, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: `refused with ${status}` }));
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return server;
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
}
