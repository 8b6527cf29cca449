/**
 * Packages that ship as ES modules only. Jest loads CommonJS, so these are let through to the transform; a new one shows
 * itself by "Cannot use import statement outside a module" or "Must use import to load ES Module".
 */
const esModules = [
  '@nestjs',
  // of @nestjs/common
  'file-type',
  'strtok3',
  'token-types',
  'uint8array-extras',
  '@borewit',
  '@tokenizer',
  // openid-client and its own
  'openid-client',
  'oauth4webapi',
  'jose',
  // of thrift, in a folder of its own
  'thrift/node_modules/uuid',
  'uuid',
];

/** Mirrors what tsconfig.json says of decorators and class fields: Nest and TypeORM read the emitted types. */
const swc = {
  sourceMaps: 'inline',
  module: { type: 'commonjs' },
  jsc: {
    target: 'es2022',
    keepClassNames: true,
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
};

const shared = {
  rootDir: __dirname,
  // Not below TMPDIR, which is another one in every run of scripts/test.mjs.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testEnvironment: 'node',
  transform: { '^.+\\.[cm]?[jt]s$': ['@swc/jest', swc] },
  transformIgnorePatterns: [`/node_modules/(?!(${esModules.join('|')})/)`],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/\\.runtime'],
  setupFiles: ['reflect-metadata'],
  restoreMocks: true,
};

/**
 * Deadline of a test, with room for a machine that has other work.
 * @param {number} milliseconds
 */
const patience = (milliseconds) => ({
  globals: { PATIENCE_MS: milliseconds },
  setupFilesAfterEnv: ['<rootDir>/test/setup/patience.ts'],
});

/**
 * Tests that need servers: what the environment does not name is started for the run and ended with it. Those of a file
 * called `*.long.*` run only where TEST_LONG says so, as `npm run test:long` does.
 * @param {string} displayName @param {string} suffix @param {number} milliseconds
 */
const withServices = (displayName, suffix, milliseconds) => ({
  ...shared,
  ...patience(milliseconds),
  displayName,
  testMatch: [`<rootDir>/test/${displayName}/**/*.${suffix}.ts`],
  testPathIgnorePatterns: process.env.TEST_LONG === '1' ? [] : ['<rootDir>/test/.*[.]long[.]'],
  globalSetup: `<rootDir>/test/setup/${displayName}.cjs`,
  globalTeardown: '<rootDir>/test/setup/end.cjs',
});

const medium = withServices('medium', 'medium-spec', 120_000);
// A whole run loads the files of a part together: see there.
const together = ['<rootDir>/test/medium/together/part-*.ts', '<rootDir>/test/medium/**/*.alone.medium-spec.ts'];

/** @type {import('jest').Config} */
module.exports = {
  testSequencer: '<rootDir>/test/setup/longest-first.cjs',
  projects: [
    {
      ...shared,
      ...patience(60_000),
      displayName: 'unit',
      testMatch: ['<rootDir>/{src,libs,test/unit}/**/*.spec.ts'],
    },
    process.env.TEST_TOGETHER ? { ...medium, testMatch: together } : medium,
    withServices('attacks', 'attack-spec', 300_000),
    withServices('stores', 'stores-spec', 240_000),
    withServices('clouds', 'clouds-spec', 480_000),
    withServices('e2e', 'e2e-spec', 480_000),
  ],
};
