// Makes a clone ready to run: installs the packages of the lock when they are not there, then compiles what changed.
// Node built-ins alone, because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'node_modules', '.millrace-lock');
const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.error('Installing packages (npm ci), about half a minute ...');
  run(process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'], [
    'ci',
    '--no-fund',
    '--no-audit',
  ]);
  writeFileSync(stamp, lock);
}
run(
  [process.execPath, join(root, 'node_modules', 'typescript', 'bin', 'tsc')],
  ['-p', join(root, 'tsconfig.json')],
);

function run([command, ...first], args) {
  const { status, error } = spawnSync(command, [...first, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
