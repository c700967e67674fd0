import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: ['test/{unit,spec,s3,sim,e2e}/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'interop',
          include: ['test/interop/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 1,
          isolate: false,
          testTimeout: 180_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
