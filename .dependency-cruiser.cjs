/**
 * The boundaries of docs/architecture.md. Types count as imports: a boundary that only types cross is still crossed.
 */

/** Domains by layer, lowest first. A domain may import its own layer and those below. */
const layers = [
  ['health', 'iam', 'audit', 'reference-data', 'secrets', 'logs'],
  [
    'volume-confs',
    'network-confs',
    'boot-disk-images',
    'credentials-confs',
    'cloud-envs',
    'cluster-confs',
    'object-storage-managers',
    'mounts',
    'dependency-repositories',
    'metastore-catalogs',
  ],
  ['clusters'],
  ['billing'],
  ['workspaces'],
  ['scoped-secrets'],
  ['catalog-secrets'],
  ['catalog-browsing'],
  ['jobs'],
  ['notebooks'],
  ['workspace-documents'],
  ['run-channels'],
  ['notebook-instances', 'functions', 'thrift-sql'],
  ['agents'],
];

/** What `iam` is divided into, lowest first. A subject may import those before it. */
const iamSubjects = [
  'roles',
  'sessions',
  'users-and-groups',
  'tenants',
  'role-assignments',
  'personal-tokens',
  'external-directory',
  'login',
  'own-account',
];

/** @param {string[]} names */
const domains = (names) => `^src/modules/(${names.join('|')})/`;
/** Contract suites of adapters are beside these; those of src are declarations of domains. */
const tests = '\\.spec\\.ts$|^libs/.+\\.contract\\.ts$|^test/';
const work = '\\.(handler|processor|worker\\.module)\\.ts$|^src/modules/.+/workflows/';
const routes = '\\.(controller|api\\.module)\\.ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'api-does-no-work',
      comment: 'The API writes intents; job handlers and workflows run in the worker only.',
      severity: 'error',
      from: { path: '^src/(main|api\\.module|openapi)\\.ts$' },
      to: { path: work, reachable: true },
    },
    {
      name: 'api-has-no-compute-drivers',
      comment: 'Only a worker makes machines; the API asks compute-support.ts what is served.',
      severity: 'error',
      from: { path: '^src/(main|api\\.module|openapi)\\.ts$' },
      to: { path: '^libs/compute-drivers/[^/]+/[^/]+-driver\\.ts$', reachable: true },
    },
    {
      name: 'worker-serves-no-routes',
      comment: 'The worker has no HTTP surface of the domains.',
      severity: 'error',
      from: { path: '^src/worker(\\.module)?\\.ts$' },
      to: { path: routes, reachable: true },
    },
    {
      name: 'front-door-only',
      comment: 'A domain is used through its module file, its exported service and the contract of that service.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/' },
      to: {
        path: '^src/modules/',
        pathNot: ['^src/modules/$1/', '^src/modules/[^/]+/[^/.]+\\.(module|service|contract)\\.ts$'],
      },
    },
    {
      name: 'no-cycles',
      comment: 'Whatever imports itself, however indirectly, cannot be understood or replaced in parts.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...layers.slice(0, -1).map((names, index) => ({
      name: `below-${layers[index + 1]?.[0]}`,
      comment: 'Lower domains never import higher ones.',
      severity: /** @type {const} */ ('error'),
      from: { path: domains(names) },
      to: { path: domains(layers.slice(index + 1).flat()) },
    })),
    {
      name: 'domain-has-a-layer',
      comment: 'A new domain takes its place in docs/architecture.md and in the list of layers here.',
      severity: 'error',
      from: {},
      to: { path: '^src/modules/[^/]+/', pathNot: domains(layers.flat()) },
    },
    ...iamSubjects.slice(0, -1).map((name, index) => ({
      name: `iam-below-${iamSubjects[index + 1]}`,
      comment: 'Lower subjects of iam never import higher ones.',
      severity: /** @type {const} */ ('error'),
      from: { path: `^src/modules/foundation/iam/${name}/` },
      to: { path: `^src/modules/foundation/iam/(${iamSubjects.slice(index + 1).join('|')})/` },
    })),
    {
      name: 'iam-subject-has-a-place',
      comment: 'A new subject of iam takes its place in docs/architecture.md and in the list of subjects here.',
      severity: 'error',
      from: {},
      to: { path: '^src/modules/foundation/iam/[^/]+/', pathNot: `^src/modules/foundation/iam/(${iamSubjects.join('|')}|entities)/` },
    },
    {
      name: 'platform-below-domains',
      comment: 'What every domain uses knows none of them.',
      severity: 'error',
      from: { path: '^src/(platform|config)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/modules/' },
    },
    {
      name: 'http-ends-at-controllers',
      comment:
        'Services answer what is to be sent; controllers, and those who find out who calls, know requests and answers.',
      severity: 'error',
      from: {
        path: '^src/modules/',
        pathNot:
          '\\.(controller|guard|spec)\\.ts$|^src/modules/foundation/iam/sessions/token-strategies\\.ts$|^src/modules/interfaces/agents/node-tokens\\.ts$',
      },
      to: { path: 'node_modules/(@types/)?express' },
    },
    {
      name: 'config-stands-alone',
      comment: 'Configuration is read before anything else exists.',
      severity: 'error',
      from: { path: '^src/config/' },
      to: { path: '^(src|libs)/', pathNot: '^src/config/' },
    },
    {
      name: 'libs-know-no-application',
      comment: 'Adapters to the outside world are free of Nest and of src.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^src/|node_modules/@nestjs/' },
    },
    {
      name: 'agent-is-plain-node',
      comment: 'The node agent is copied to Spark nodes alone, without node_modules.',
      severity: 'error',
      from: { path: '^libs/node-agent/', pathNot: '\\.spec\\.ts$' },
      to: { path: 'node_modules/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-test-code-in-production',
      comment: 'Specs, contract suites of adapters, and all of test/ are not part of the build.',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: tests },
      to: { path: tests },
    },
    {
      name: 'no-development-packages-in-production',
      comment: 'The image installs without devDependencies.',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: tests },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only', 'npm'],
        pathNot: 'node_modules/@types/',
      },
    },
    {
      name: 'declared',
      comment: 'Every package that is imported is in package.json.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'resolvable',
      comment: 'Every import resolves.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'require', 'node', 'default', 'import'],
      mainFields: ['types', 'main'],
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json', '.d.ts'],
    },
  },
};
