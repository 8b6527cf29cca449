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

/** @type {import('jest').Config} */
module.exports = {
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/{src,libs,test/unit}/**/*.spec.ts'],
    },
    {
      ...shared,
      displayName: 'medium',
      testMatch: ['<rootDir>/test/medium/**/*.medium-spec.ts'],
    },
    {
      ...shared,
      displayName: 'attacks',
      testMatch: ['<rootDir>/test/attacks/**/*.attack-spec.ts'],
    },
    {
      ...shared,
      displayName: 'stores',
      testMatch: ['<rootDir>/test/stores/**/*.stores-spec.ts'],
    },
    {
      ...shared,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/e2e/**/*.e2e-spec.ts'],
    },
  ],
};
