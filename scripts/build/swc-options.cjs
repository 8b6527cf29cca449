/**
 * How SWC compiles the project's TypeScript, for the build and for tests: decorators, class fields and modules as tsconfig.json
 * says, because Nest and TypeORM read the emitted types.
 * @type {import('@swc/core').Options}
 */
exports.SWC_OPTIONS = {
  configFile: false,
  swcrc: false,
  sourceMaps: true,
  module: { type: 'commonjs' },
  jsc: {
    target: 'es2023',
    keepClassNames: true,
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
};
