import { fileURLToPath } from 'node:url';

/** The root of the repository, from where this file runs: `dist/test/support`. */
export const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));
