import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { minilmFolder } from '../support/weights/minilm.js';
import { millrace, startMillrace, type MillraceProcess } from '../support/millrace-process.js';
import { temporaryFolder, writeFiles } from '../support/temporary-folder.js';

const environment = { ...process.env, MILLRACE_TOKEN: 'a-token-of-some-length' };

async function serve(args: readonly string[], cwd?: string) {
  const server = startMillrace(['serve', ...args, '--port', '0'], {
    env: environment,
    ...(cwd !== undefined && { cwd }),
  });
  await server.says('ready:');
  return server;
}

test('without arguments it serves the bundled model, and SIGTERM stops it cleanly', async () => {
  const server = await serve(['--json']);
  server.child.kill('SIGTERM');
  const { code, stdout, stderr } = await server.ended;
  expect(code).toBe(0);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; model?: string });
  expect(events.filter(({ type }) => type !== 'notice').map(({ type }) => type)).toEqual([
    'listening',
    'model-loaded',
    'ready',
    'stopped',
  ]);
  expect(events.find(({ type }) => type === 'model-loaded')!.model).toBe('bundled');
  expect(stdout + stderr).not.toContain(environment.MILLRACE_TOKEN);
});

describe('a server under load', () => {
  let server: MillraceProcess;
  let call: Promise<Response>;

  beforeEach(async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, {
      'models.yaml': `serve: { minilm: { onnx: { model: ${minilmFolder()} } } }\ntoken: "\${MILLRACE_TOKEN}"\nworkers: 1\n`,
    });
    server = startMillrace(['serve', 'models.yaml', '--port', '0', '--json'], {
      cwd: folder,
      env: environment,
    });
    const { url } = JSON.parse(await server.prints('"type":"ready"')) as { url: string };
    const headers = { authorization: `Bearer ${environment.MILLRACE_TOKEN}` };
    const input = Array.from({ length: 200 }, () => 'word '.repeat(40));
    call = fetch(`${url}/v1/embeddings`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'minilm', input }),
    });
    let over = false;
    call.catch(() => undefined).finally(() => (over = true));
    const load = async () => {
      const page = await fetch(`${url}/metrics`, { headers });
      return Number(/millrace_queue_texts (\d+)/.exec(await page.text())![1]);
    };
    while ((await load()) === 0) {
      if (over) throw new Error('The call was over before anybody saw it under way.');
      await new Promise((done) => setTimeout(done, 5));
    }
  });

  afterEach(() => void server.child.kill('SIGKILL'));

  test('answers at a stop what is under way', async () => {
    server.child.kill('SIGTERM');
    const reply = (await (await call).json()) as { data: unknown[] };
    expect(reply.data).toHaveLength(200);
    expect((await server.ended).code).toBe(0);
  });

  test('gives up at a second signal, and says so', async () => {
    server.child.kill('SIGTERM');
    await server.says('stopping');
    server.child.kill('SIGTERM');
    expect((await server.ended).code).toBe(3);
    // Whether the refusal still reaches the client is a matter of luck.
    const outcome = await call.then(
      ({ status }) => status,
      () => 'cut off',
    );
    expect([503, 'cut off']).toContain(outcome);
  });
});

test('a wrong configuration is told line by line, and nothing is started', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, {
    'models.yaml':
      'serve: { a: { onnx: { modell: x } }, b: { openai: { url: "http://x/v1", model: y } } }\nport: 99999\n',
  });
  const { code, stderr } = await millrace(['serve', 'models.yaml'], { cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toContain('serve.a.onnx.modell: unknown key. Did you mean "model"?');
  expect(stderr).toContain('serve.b.openai: unknown key');
  expect(stderr).toContain('port:');
});

test('a model of the command line beside a file that names models is refused, not left out', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'models.yaml': 'serve: { small: { static: {} } }\nport: 0\n' });
  const { code, stderr } = await millrace(['serve', 'models.yaml', '--model', './e5'], { cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toContain('--model and the file models.yaml both name models');
});

test('a token that is too short is refused, with the length that it needs', async () => {
  const { code, stderr } = await millrace(['serve', '--port', '0'], {
    env: { ...environment, MILLRACE_TOKEN: 'short' },
  });
  expect(code).toBe(2);
  expect(stderr).toContain('token: expected at least 16 characters');
  expect(stderr).not.toContain('short');
});

test('beyond loopback a token is needed', async () => {
  const { MILLRACE_TOKEN: _token, ...env } = environment;
  const { code, stderr } = await millrace(['serve', '--host', '0.0.0.0', '--port', '0'], { env });
  expect(code).toBe(2);
  expect(stderr).toContain('Set a token');
});
