/**
 * SWC compiles the project's TypeScript by these options, for the build and for tests. They must match what tsconfig.json says
 * about decorators, class fields and modules, because Nest and TypeORM read the emitted types.
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
