import { MillraceError } from '../../errors/millrace-error.js';
import type { FileDigest } from './file-digest.js';

export interface HubOptions {
  /** Address of the hub, without a trailing slash. */
  readonly hubUrl: string;
  /** Access token for gated and private models. */
  readonly token?: string;
}

/** A file of a repository at one commit. */
export interface HubFile {
  /** Path in the repository, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly digest: FileDigest;
}

/** The model hub's read side, over the official client. */
export interface HubClient {
  /** The commit that a branch, a tag or a short hash stands for, 40 hex characters. */
  commitOf(id: string, revision: string, signal?: AbortSignal): Promise<string>;
  /** Every file of the repository at a commit. */
  files(id: string, commit: string, signal?: AbortSignal): Promise<HubFile[]>;
  /** Begins to read a file at byte `from`. The server may answer from the beginning all the same: 200, not 206. */
  open(id: string, commit: string, path: string, from: number, signal: AbortSignal): Promise<Response>;
}

/** All methods throw MillraceError `model_not_found` or `remote_unavailable`, or the signal's reason. */
export async function openHubClient({ hubUrl, token }: HubOptions): Promise<HubClient> {
  const { listFiles, modelInfo, HubApiError } = await import('@huggingface/hub');

  // The official client accepts tokens of the public hub only; a mirror's may look different.
  const withToken = (signal?: AbortSignal): typeof fetch => {
    return (input, init) => {
      const headers = new Headers(init?.headers);
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
      return fetch(input, { ...init, headers, ...(signal === undefined ? {} : { signal }) });
    };
  };

  const asked = async <Answer>(what: string, signal: AbortSignal | undefined, ask: () => Promise<Answer>) => {
    try {
      return await ask();
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof HubApiError) throw refused(what, error.statusCode, error);
      throw unreachable(what, error);
    }
  };

  return {
    commitOf: (id, revision, signal) =>
      asked(`model ${id} at revision ${revision}`, signal, async () => {
        const params = { name: id, revision, hubUrl, fetch: withToken(signal) };
        const { sha } = await modelInfo({ ...params, additionalFields: ['sha'] });
        return sha;
      }),

    files: (id, commit, signal) =>
      asked(`model ${id} at commit ${commit}`, signal, async () => {
        const files: HubFile[] = [];
        const params = { repo: id, revision: commit, recursive: true, hubUrl, fetch: withToken(signal) };
        for await (const entry of listFiles(params)) {
          if (entry.type !== 'file' || !isPlainPath(entry.path)) continue;
          const digest: FileDigest | undefined =
            entry.lfs !== undefined
              ? { kind: 'sha256', hex: entry.lfs.oid }
              : entry.oid === undefined
                ? undefined
                : { kind: 'git', hex: entry.oid };
          if (digest !== undefined) files.push({ path: entry.path, bytes: entry.size, digest });
        }
        return files;
      }),

    open: async (id, commit, path, from, signal) => {
      const what = `${path} of model ${id} at commit ${commit}`;
      const address = `${hubUrl}/${id}/resolve/${commit}/${path.split('/').map(encodeURIComponent).join('/')}`;
      const headers: Record<string, string> = {
        'accept-encoding': 'identity',
        ...(from === 0 ? {} : { range: `bytes=${from}-` }),
      };
      const response = await asked(what, signal, () => withToken(signal)(address, { headers }));
      if (!response.ok && response.status !== 416) {
        await response.body?.cancel();
        throw refused(what, response.status);
      }
      return response;
    },
  };

  function refused(what: string, status: number, cause?: unknown): MillraceError {
    if (status === 401 || status === 403 || status === 404) {
      return new MillraceError('model_not_found', `The hub ${hubUrl} does not give out ${what} (${status})`, {
        cause,
        hint:
          token === undefined
            ? 'Check the name and the revision; a gated or private model also needs an access token, and its terms accepted.'
            : 'Check the name, the revision, and that the owner of the access token may read this model.',
      });
    }
    return new MillraceError('remote_unavailable', `The hub ${hubUrl} answered ${status} for ${what}`, {
      cause,
    });
  }

  function unreachable(what: string, cause: unknown): MillraceError {
    return new MillraceError('remote_unavailable', `The hub ${hubUrl} could not be reached for ${what}`, {
      cause,
      hint: 'Check the network, or pull the model on a machine that has one and copy the cache folder.',
    });
  }
}

/** A path that stays inside the folder it is joined to, on every system. */
function isPlainPath(path: string): boolean {
  return (
    !/[\\:]|^\//.test(path) && !path.split('/').some((part) => part === '' || part === '.' || part === '..')
  );
}
