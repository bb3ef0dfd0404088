import { request } from 'node:http';
import { expect, test } from 'vitest';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { document, logOf, usePglite, type Faults } from '../promises/bed.js';

const openBed = usePglite();
const token = 'a-token-of-sixteen';

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** `fetch` does not let a caller name another host. */
function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    request(url, { headers, method, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode!, body }));
    })
      .on('error', reject)
      .end();
  });
}

/** Runs one document through a run with an HTTP face, and looks at it from inside a write. */
async function during(
  look: (url: string, write: number) => Promise<void>,
  http: { port: number; token?: string } = { port: 0 },
  failing = 0,
) {
  const bed = await openBed();
  let url = '';
  let writes = 0;
  const faults: Faults = {
    store: (store) => ({
      ...store,
      sink: {
        ...store.sink,
        write: async (batch, signal) => {
          writes += 1;
          await look(url, writes);
          if (writes <= failing) throw new MillraceError('store_unavailable', 'Nobody answers.');
          return store.sink.write(batch, signal);
        },
      },
    }),
  };
  await bed.run({
    input: { http },
    source: logOf([document('a', 1, 'ants')]),
    faults,
    onEvent: (event) => void (event.type === 'status-open' && (url = event.url)),
  });
  expect(writes).toBe(failing + 1);
  await expect(ask(`${url}/health`)).rejects.toThrow();
}

test('a run shows its figures and that it is well, and is gone with the run', async () => {
  await during(async (url) => {
    expect(await ask(`${url}/health`)).toEqual({
      status: 200,
      body: '{"live":true,"ready":true,"reasons":[]}\n',
    });
    expect((await ask(`${url}/health/live`)).status).toBe(200);
    const { status, body } = await ask(`${url}/metrics`);
    expect(status).toBe(200);
    const lines = body.split('\n');
    expect(lines).toContain('millrace_documents_under_way 1');
    expect(lines).toContain('millrace_ready 1');
    expect(lines.some((line) => /^millrace_oldest_under_way_seconds \d/.test(line))).toBe(true);
    expect((await ask(`${url}/metrics`, {}, 'POST')).status).toBe(405);
    expect((await ask(`${url}/else`)).status).toBe(404);
  });
});

test('while the store refuses, health is red and says why, and is green once it takes the write', async () => {
  await during(
    async (url, write) => {
      const { status, body } = await ask(`${url}/health`);
      if (write === 1) expect(status).toBe(200);
      else
        expect([status, JSON.parse(body)]).toEqual([
          503,
          { live: true, ready: false, reasons: ['sink is away (store_unavailable): Nobody answers.'] },
        ]);
    },
    { port: 0 },
    1,
  );
});

test('figures and reasons need the token, or the name of this machine where there is none', async () => {
  await during(async (url) => {
    const rebound = { host: 'evil.example' };
    expect((await ask(`${url}/metrics`, rebound)).status).toBe(403);
    expect((await ask(`${url}/health`, rebound)).body).toBe('{"live":true,"ready":true}\n');
  });
  await during(
    async (url) => {
      expect((await ask(`${url}/metrics`)).status).toBe(401);
      expect((await ask(`${url}/metrics`, { authorization: `Bearer ${token}` })).status).toBe(200);
      expect((await ask(`${url}/health`)).status).toBe(200);
    },
    { port: 0, token },
  );
});

test('beyond loopback a run without a token does not start', async () => {
  const bed = await openBed();
  const input = { http: { port: 0, host: '0.0.0.0' } };
  await expect(bed.run({ input, source: logOf() })).rejects.toMatchObject({
    code: 'config_invalid',
    hint: 'Set a token, or listen on 127.0.0.1.',
  });
});
