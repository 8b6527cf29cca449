import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const readsEnvironment = [
  'src/config/**/*.ts',
  'libs/node-agent/main.ts',
  'libs/testing/**/*.ts',
  'scripts/**',
  'test/**',
  '**/*.spec.ts',
];
/** What is plain JavaScript and type-checked all the same, by its JSDoc. */
const scripts = ['scripts/**/*.mjs'];
/** In SQL: that a column names a certain tenant. What a statement sets is no condition. */
const IS_TENANT = String.raw`(?<!SET )\b\w*tenant_id(?:::uuid)?\s*(?:=|<>|!=|IN\b|IS (?:NOT )?DISTINCT FROM\b)\s*`;
/** What leads along a composite foreign key holds by the key: the tenants are equal because the ids are. */
const BY_KEY = String.raw`\s+AND (?:(?:\w+\.)?(\w+_id) = \w+\.\1\b|(?:\w+\.)?$)`;
const tenantConditions = [
  ...['Literal[value', 'TemplateElement[value.raw'].flatMap((node) => [
    String.raw`${node}=/${IS_TENANT}(?:\$\d|\?|\(|ANY\b)/]`,
    String.raw`${node}=/${IS_TENANT}\w+\.\w*tenant_id\b(?!${BY_KEY})/]`,
    String.raw`${node}=/(?:\$\d+|\?)(?:::uuid)?\s*=\s*(?:\w+\.)?\w*tenant_id\b/]`,
  ]),
  String.raw`TemplateElement[value.raw=/${IS_TENANT}$/] + TemplateElement:not([value.raw=/^\.tenant_id\s+AND /])`,
  ...[
    'Property[key.name="where"]',
    'CallExpression[callee.property.name=/^(?:(?:find|findOne|findAndCount|count|exists)(?:By|ByOrFail)|delete|(?:and|or)?where)$/i]',
  ].map((where) => `${where} > ObjectExpression > Property[key.name=/tenant_id$/]`),
  'CallExpression[callee.name="updateRows"] > ObjectExpression:nth-child(4) > Property[key.name=/tenant_id$/]',
].map((selector) => ({
  selector,
  message: 'Conditions on a tenant are made by ofTenant() or inTenant(), which the access matrix takes away.',
}));
const tests = ['test/**/*.ts', 'libs/testing/**/*.ts', '**/*.spec.ts'];

/**
 * Refuses literals that hold what the pattern finds.
 * @param {string} pattern as between slashes, with slashes escaped
 * @param {string} message
 */
const noText = (pattern, message) =>
  ['Literal[value', 'TemplateElement[value.raw'].map((node) => ({ selector: `${node}=/${pattern}/]`, message }));

const time = noText(
  '(?<![\\w.])(now|clock_timestamp)\\(\\)|CURRENT_TIMESTAMP',
  'SQL takes the time from platform_now() or platform_clock(), which a test can set.',
);
const SQL_PLACE =
  'SQL stands in repositories: give a *.repository.ts of the domain a method for it, whose result is picked from entities. ' +
  'Plain reads and writes of one table are findOneBy, insertRow and updateRows. See docs/adr/0014.';
const sqlStatements = [
  ...noText('\\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|FROM|WHERE)(\\s|$)', SQL_PLACE),
  { selector: 'CallExpression[callee.property.name="query"]', message: SQL_PLACE },
  {
    selector:
      'ImportDeclaration[source.value=/persistence\\/sql$/] > ImportSpecifier[imported.name=/^(rows|firstRow|returning|Conditions)$/]',
    message: SQL_PLACE,
  },
];
const sqlFragments = noText(
  "\\b(JOIN|ORDER BY|GROUP BY|RETURNING|ILIKE|IS NULL|IS NOT NULL|FOR UPDATE|FOR SHARE|ANY\\()|\\bt\\.\\w+ (=|<|>)|= (\\?|\\$\\d)|'infinity'|platform_(now|clock)\\(\\)",
  SQL_PLACE,
);

export default defineConfig(
  globalIgnores(['dist/', 'coverage/', 'node_modules/', '.runtime*/', 'libs/metastore-clients/hive/generated/']),
  {
    files: ['**/*.{js,cjs,mjs}'],
    extends: [js.configs.recommended],
    languageOptions: {
      globals: Object.fromEntries(
        ['process', 'console', 'Buffer', 'URL', 'URLSearchParams'].map((name) => [name, 'readonly']),
      ),
    },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      complexity: ['error', 20],
      'prefer-const': 'error',
    },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: {
      sourceType: 'commonjs',
      globals: { module: 'writable', require: 'readonly', __dirname: 'readonly', __filename: 'readonly' },
    },
  },
  {
    files: ['**/*.ts', ...scripts],
    extends: [js.configs.recommended, tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      // A default does not excuse a missing case: a new state has to be thought of wherever states are told apart.
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: false, requireDefaultForNonUnion: false },
      ],
      // Skips files with decorators by itself: there the emitted metadata needs the import at run time.
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // A method of an interface may be asynchronous for the sake of another implementation.
      '@typescript-eslint/require-await': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      complexity: ['error', 15],
      'max-depth': ['error', 4],
      'max-lines': ['error', { max: 600, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
    },
  },
  {
    files: scripts,
    rules: {
      // The compiler knows every name.
      'no-undef': 'off',
      // These rules do not see the casts of JSDoc, and so would refuse what JSON.parse answers whatever it is said to be.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      'no-console': 'off',
    },
  },
  {
    files: ['**/*.ts'],
    ignores: readsEnvironment,
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/config reads the environment.' },
      ],
      'no-restricted-syntax': ['error', ...time, ...tenantConditions],
      'no-restricted-imports': [
        'error',
        {
          paths: ['process', 'node:process'].map((name) => ({
            name,
            importNames: ['env', 'default'],
            message: 'Only src/config reads the environment; `process` itself is global.',
          })),
        },
      ],
    },
  },
  {
    files: ['src/modules/**/*.ts'],
    ignores: ['**/*.repository.ts', '**/*.entity.ts', '**/*.contract.ts'],
    rules: { 'no-restricted-syntax': ['error', ...time, ...tenantConditions, ...sqlStatements, ...sqlFragments] },
  },
  {
    // What the schema says of a table, and how the repositories of other domains join one.
    files: ['src/modules/**/*.entity.ts', 'src/modules/**/*.contract.ts'],
    rules: { 'no-restricted-syntax': ['error', ...time, ...tenantConditions, ...sqlStatements] },
  },
  {
    // Generated; as long as the schema is wide.
    files: ['src/database/migrations/*.ts'],
    rules: { 'max-lines': 'off', 'no-restricted-syntax': 'off' },
  },
  {
    files: tests,
    rules: {
      'no-restricted-syntax': 'off',
      // Answers of the service and asymmetric matchers are `any` by their nature.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'max-lines': 'off',
    },
  },
  {
    files: ['libs/node-agent/main.ts', 'libs/testing/**/*.ts', 'test/**/*.ts', 'src/{migrate,openapi}.ts'],
    rules: { 'no-console': 'off' },
  },
);
