import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'oxlint';
import { EXEMPT } from './scripts/speech/words.mjs';
import { ensureGenerated } from './sdk/typescript/generate.mjs';

// The rules need the types of the SDK.
ensureGenerated();

// A program that uses the SDK has neither src/config nor libs/json.
const sdk = 'sdk/typescript/**';
const readsEnvironment = [
  'src/config/**/*.ts',
  'libs/node-agent/main.ts',
  'scripts/**',
  'test/**',
  sdk,
  '**/*.spec.ts',
];
/** In SQL: that a column names a certain tenant. What a statement sets is no condition. */
const IS_TENANT = String.raw`(?<!SET )\b\w*tenant_id(?:::uuid)?\s*(?:=|<>|!=|IN\b|IS (?:NOT )?DISTINCT FROM\b)\s*`;
/** A join along a composite foreign key needs no condition: equal ids have equal tenants. */
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
const sqlCalls = [
  { selector: 'CallExpression[callee.property.name="query"]', message: SQL_PLACE },
  {
    selector:
      'ImportDeclaration[source.value=/persistence\\/sql$/] > ImportSpecifier[imported.name=/^(rows|firstRow|returning|Conditions)$/]',
    message: SQL_PLACE,
  },
];
const sqlStatements = [
  ...noText('\\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|FROM|WHERE)(\\s|$)', SQL_PLACE),
  ...sqlCalls,
];
const sqlFragments = noText(
  "\\b(JOIN|ORDER BY|GROUP BY|RETURNING|ILIKE|IS NULL|IS NOT NULL|FOR UPDATE|FOR SHARE|ANY\\()|\\bt\\.\\w+ (=|<|>)|= (\\?|\\$\\d)|'infinity'|platform_(now|clock)\\(\\)",
  SQL_PLACE,
);

const environment = { object: 'process', property: 'env', message: 'Only src/config reads the environment.' };
const jsonParse = {
  object: 'JSON',
  property: 'parse',
  message:
    'A parser makes an object of every few bytes: what others wrote goes through parseUntrusted() or readUntrusted() of ' +
    'libs/json, what only the platform can have written through parseTrusted().',
};

/** A value of type `any` that is used as if its type were known. */
const anyRules = ['argument', 'assignment', 'call', 'member-access', 'return'].map(
  (use) => `typescript/no-unsafe-${use}`,
);
const FOLDERS = ['src', 'libs', 'test'];
/** In files with decorators, the emitted metadata needs imports at run time that look as if they were only types. */
const decorated = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))),
).filter((file) => file.endsWith('.ts') && /^\s*@\w/m.test(readFileSync(file, 'utf8')));
const all = (/** @type {string[]} */ rules, /** @type {'error' | 'off'} */ severity) =>
  Object.fromEntries(rules.map((rule) => [rule, severity]));

export default defineConfig({
  plugins: ['eslint', 'typescript'],
  // Two rules as ESLint has them: Oxlint lacks the one for selectors (no-restricted-syntax) and gets the other wrong.
  jsPlugins: [{ name: 'eslint-js', specifier: 'oxlint-plugin-eslint' }, './scripts/speech/oxlint-plugin.mjs'],
  // The program that the rules ask for types is also the one whose types are checked, so that they are checked once.
  options: { typeAware: true, typeCheck: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['dist/', 'coverage/', 'node_modules/', '.runtime*/', 'sdk/typescript/src/generated/'],
  categories: { correctness: 'error' },
  rules: {
    complexity: ['error', 15],
    'house/speech': 'error',
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'max-depth': ['error', 4],
    'max-lines': ['error', { max: 600, skipBlankLines: true, skipComments: true }],
    'no-array-constructor': 'error',
    'no-case-declarations': 'error',
    'no-console': 'error',
    'no-empty': 'error',
    'no-fallthrough': 'error',
    'no-prototype-builtins': 'error',
    'no-regex-spaces': 'error',
    'no-unexpected-multiline': 'error',
    'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    // Oxlint's own rule overlooks that a loop reads in its next turn what a `catch` assigned.
    'eslint-js/no-useless-assignment': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'prefer-rest-params': 'error',
    'prefer-spread': 'error',
    'preserve-caught-error': 'error',
    ...all(anyRules, 'error'),
    'typescript/ban-ts-comment': 'error',
    'typescript/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
    'typescript/no-empty-object-type': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-namespace': 'error',
    'typescript/no-require-imports': 'error',
    'typescript/no-unnecessary-type-assertion': 'error',
    'typescript/no-unnecessary-type-constraint': 'error',
    'typescript/no-unsafe-enum-comparison': 'error',
    'typescript/no-unsafe-function-type': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/restrict-plus-operands': 'error',
    'typescript/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    // A default does not excuse a missing case: a new state has to be thought of wherever states are told apart.
    'typescript/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: false, requireDefaultForNonUnion: false },
    ],
    // A row is an instance of its entity, and is copied by spreading it.
    'typescript/no-misused-spread': 'off',
    // `return void f()` ends a function with a call whose result, if it ever has one, is of no interest.
    'typescript/no-meaningless-void-operator': 'off',
    // Takes the default of a field for useless where the object that has the field may be missing.
    'typescript/no-useless-default-assignment': 'off',
    // Answers in tests are `any`, and so are their arrays of names.
    'typescript/require-array-sort-compare': 'off',
  },
  overrides: [
    { files: [...EXEMPT], rules: { 'house/speech': 'off' } },
    {
      files: ['**/*.{js,cjs,mjs}'],
      // The last rules do not see the casts of JSDoc, and so would refuse what JSON.parse answers whatever it is said to be.
      rules: { 'no-console': 'off', 'no-redeclare': 'error', ...all(anyRules, 'off') },
    },
    { files: ['**/*.cjs'], rules: { 'typescript/no-require-imports': 'off' } },
    {
      // These files are outside tsconfig.json: no compiler knows their names, and types in them are guessed.
      files: ['test/**/*.{cjs,mjs}'],
      env: { node: true, jest: true, es2024: true },
      rules: {
        'no-undef': 'error',
        'typescript/no-misused-promises': 'off',
        'typescript/unbound-method': 'off',
      },
    },
    {
      files: ['**/*.ts'],
      excludeFiles: readsEnvironment,
      rules: {
        'no-restricted-properties': ['error', environment, jsonParse],
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
        'eslint-js/no-restricted-syntax': ['error', ...time, ...tenantConditions],
      },
    },
    {
      files: ['libs/node-agent/main.ts'],
      rules: { 'no-restricted-properties': ['error', jsonParse] },
    },
    {
      // A browser parses for one user; nobody else waits meanwhile.
      files: ['console/src/**/*.ts'],
      rules: { 'no-restricted-properties': ['error', environment] },
    },
    {
      files: ['libs/json/{parse,strict}-json.ts'],
      rules: { 'no-restricted-properties': ['error', environment] },
    },
    {
      files: ['src/modules/**/*.ts'],
      excludeFiles: ['**/*.repository.ts', '**/*.entity.ts', '**/*.joins.ts'],
      rules: {
        'eslint-js/no-restricted-syntax': ['error', ...time, ...tenantConditions, ...sqlStatements, ...sqlFragments],
      },
    },
    {
      // Entities hold the SQL of a table's schema, such as its checks.
      files: ['src/modules/**/*.entity.ts'],
      rules: { 'eslint-js/no-restricted-syntax': ['error', ...time, ...tenantConditions, ...sqlStatements] },
    },
    {
      // Joins and conditions about a table for the statements of other domains; it sends none.
      files: ['src/modules/**/*.joins.ts'],
      rules: { 'eslint-js/no-restricted-syntax': ['error', ...time, ...tenantConditions, ...sqlCalls] },
    },
    { files: decorated, rules: { 'typescript/consistent-type-imports': 'off' } },
    {
      // Generated; as long as the schema is wide.
      files: ['src/database/migrations/*.ts'],
      rules: { 'max-lines': 'off', 'eslint-js/no-restricted-syntax': 'off' },
    },
    {
      files: ['test/**/*.ts', '**/*.spec.ts'],
      rules: {
        'eslint-js/no-restricted-syntax': 'off',
        'max-lines': 'off',
        // Answers of the service and asymmetric matchers are `any` by their nature.
        ...all(anyRules, 'off'),
        'typescript/unbound-method': 'off',
      },
    },
    {
      files: ['console/src/**/*.{ts,tsx}'],
      plugins: ['eslint', 'typescript', 'react', 'jsx-a11y'],
      rules: {
        'react/rules-of-hooks': 'error',
        'react/exhaustive-deps': 'error',
        'react/no-danger': 'error',
        'react/jsx-key': 'error',
        // A page reads only what its own server says, and has no libs/json.
        'no-restricted-properties': ['error', environment],
      },
    },
    {
      files: ['libs/node-agent/main.ts', 'test/**/*.ts', 'src/{migrate,openapi}.ts'],
      rules: { 'no-console': 'off' },
    },
  ],
});
