import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where tslab is once `npm ci --prefix notebooks/kernel` has run. */
export function kernelProgram(root: string): string {
  return join(root, 'notebooks', 'kernel', 'node_modules', 'tslab', 'bin', 'tslab');
}

/**
 * Tells Jupyter of the TypeScript kernel, and lets notebooks import `millrace` by its name: the build of this clone.
 * @returns what JUPYTER_PATH must be
 */
export async function prepareKernel(root: string): Promise<string> {
  const program = kernelProgram(root);
  if (!existsSync(program))
    throw new Error('The TypeScript kernel is not installed: npm ci --prefix notebooks/kernel');
  const packages = join(root, 'notebooks', 'node_modules');
  await mkdir(packages, { recursive: true });
  await symlink('../..', join(packages, 'millrace'), 'dir').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const jupyter = join(root, 'notebooks', 'kernel', 'jupyter');
  await mkdir(join(jupyter, 'kernels', 'tslab'), { recursive: true });
  const kernel = {
    argv: [process.execPath, program, 'kernel', '--config-path', '{connection_file}'],
    display_name: 'TypeScript',
    language: 'typescript',
  };
  await writeFile(join(jupyter, 'kernels', 'tslab', 'kernel.json'), JSON.stringify(kernel));
  return jupyter;
}
