/**
 * `npm run notebooks`: sets up the TypeScript kernel, and Jupyter where there is none (a Python environment in .cache),
 * and opens the notebooks.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kernelProgram, prepareKernel } from './kernel.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const environment = join(root, '.cache', 'jupyter');
/** Runs on Python 3.9 and newer. */
const jupyterLab = 'jupyterlab==4.4.10';

if (!existsSync(kernelProgram(root))) {
  const npm = process.env['npm_execpath'];
  const [command, ...first] = npm === undefined ? ['npm'] : [process.execPath, npm];
  call(command!, [...first, 'ci', '--prefix', join(root, 'notebooks', 'kernel')]);
}
const JUPYTER_PATH = await prepareKernel(root);
call(jupyter(), process.argv.slice(2), {
  cwd: join(root, 'notebooks'),
  env: { ...process.env, JUPYTER_PATH },
});

/** JupyterLab or the older notebook server, as installed; else a JupyterLab of our own. */
function jupyter(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const own = join(environment, 'bin', 'jupyter-lab');
  const found = ['jupyter-lab', 'jupyter-notebook']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
  if (found !== undefined) return found;
  if (!existsSync(own)) {
    console.log(`Installing ${jupyterLab} into .cache/jupyter ...`);
    call('python3', ['-m', 'venv', environment]);
    call(join(environment, 'bin', 'pip'), ['install', '--quiet', jupyterLab]);
  }
  return own;
}

function call(command: string, args: readonly string[], options: object = {}): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
