require('./sdk/typescript/generate.mjs').ensureGenerated();

const shared = {
  rootDir: __dirname,
  // The cache must not be below TMPDIR, which differs in every run of scripts/test.mjs.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  // Test files share the modules of their process, which Node itself loads: see docs/adr/0049.
  runtime: '<rootDir>/test/runtime/runtime.cjs',
  testEnvironment: '<rootDir>/test/runtime/environment.cjs',
  transform: {},
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/\\.runtime'],
  setupFiles: ['reflect-metadata'],
  restoreMocks: true,
};

/**
 * The timeout of a test leaves room for a machine that is busy with other work, and is longer than the waits within the
 * test, which say what did not happen.
 * @param {number} testTimeoutMs
 */
const timeout = (testTimeoutMs) => ({ testEnvironmentOptions: { testTimeoutMs } });

/**
 * Tests that need servers: what the environment does not name is started for the run and ended with it. Those of a file
 * called `*.long.*` run only where TEST_LONG says so, as `npm run test:long` does.
 * @param {string} displayName @param {string} suffix @param {number} milliseconds
 */
const withServices = (displayName, suffix, milliseconds) => ({
  ...shared,
  ...timeout(milliseconds),
  displayName,
  testMatch: [`<rootDir>/test/${displayName}/**/*.${suffix}.ts`],
  testPathIgnorePatterns: process.env.TEST_LONG === '1' ? [] : ['<rootDir>/test/.*[.]long[.]'],
  globalSetup: `<rootDir>/test/setup/${displayName}.cjs`,
  globalTeardown: '<rootDir>/test/setup/end.cjs',
});

/** @type {import('jest').Config} */
module.exports = {
  testSequencer: '<rootDir>/test/runtime/sequencer.cjs',
  projects: [
    {
      ...shared,
      ...timeout(180_000),
      displayName: 'unit',
      testMatch: ['<rootDir>/{src,libs,console/src,sdk/typescript/src,test/unit}/**/*.spec.ts'],
    },
    withServices('medium', 'medium-spec', 300_000),
    withServices('attacks', 'attack-spec', 300_000),
    withServices('stores', 'stores-spec', 240_000),
    withServices('clouds', 'clouds-spec', 480_000),
    withServices('e2e', 'e2e-spec', 480_000),
  ],
};
