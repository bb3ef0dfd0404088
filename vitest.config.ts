import { defineConfig } from 'vitest/config';

/** Tests run from `dist`, as the package does: workers are plain files there, and nothing is transformed on the way. */
export default defineConfig({
  test: {
    include: ['dist/test/**/*.test.js'],
    exclude: ['**/node_modules/**'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    pool: 'forks',
  },
});
