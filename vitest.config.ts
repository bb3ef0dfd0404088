import { defineConfig } from 'vitest/config';

/** Tests run from `dist`, as the package does: workers are plain files there, and nothing is transformed on the way. */
export default defineConfig({
  test: {
    include: ['dist/test/**/*.test.js'],
    exclude: ['**/node_modules/**'],
    // Guards against what hangs: a slow machine with busy neighbours must not come near them.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
    pool: 'forks',
  },
});
