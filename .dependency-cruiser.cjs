/**
 * The boundaries of docs/architecture/layout.md. Types count as imports: a boundary that only types cross is still crossed.
 */

/** Layers, their domains and the subjects of these, lowest first: whatever is listed may import only what is listed before it. */
const layers = require('./src/modules/layers.json');
const domains = layers.flatMap(({ layer, domains: of }) =>
  of.map((domain) => ({ ...domain, path: `${layer}/${domain.name}` })),
);

/**
 * One rule for each but the last of a list: it does not import those behind it.
 * @param {string} folder
 * @param {string[]} names relative to the folder
 */
const inOrder = (folder, names) =>
  names.slice(0, -1).map((name, index) => ({
    name: `${name}-below-${names[index + 1]}`,
    comment: 'What is listed earlier in src/modules/layers.json never imports what is listed later.',
    severity: /** @type {const} */ ('error'),
    from: { path: `^${folder}/${name}/` },
    to: { path: `^${folder}/(${names.slice(index + 1).join('|')})/` },
  }));
/** Specs and contract suites are beside what they test. */
const tests = '\\.spec\\.ts$|^libs/.+\\.contract\\.ts$|^(sdk/typescript/src/)?test(ing)?/';
/** Files that only a worker may load. */
const work =
  '\\.(handler|processor|worker\\.module)\\.ts$|^src/modules/(.+/background|execution/clusters/(provisioning|scaling))/';
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
      comment:
        'A domain is used through its index.ts, and composed through its module files. Everything else is private.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+/[^/]+)/' },
      to: {
        path: '^src/modules/',
        pathNot: [
          '^src/modules/$1/',
          '^src/modules/[^/]+/[^/]+/index\\.ts$',
          '^src/modules/[^/]+/[^/]+/[^/]+\\.module\\.ts$',
        ],
      },
    },
    {
      name: 'front-door-is-for-others',
      comment:
        'Inside a domain files import each other: through the door they would load, and could need, all that it exports.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+/[^/]+)/' },
      to: { path: '^src/modules/$1/index\\.ts$' },
    },
    {
      name: 'front-door-hides-rows',
      comment:
        'A door hands out services, functions and types. SQL that other domains put into their statements is in *.joins.ts; ' +
        'who reads and writes rows, and their classes, stay inside.',
      severity: 'error',
      from: { path: '^src/modules/[^/]+/[^/]+/index\\.ts$' },
      to: { path: '\\.(repository|entity)\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'console-features-apart',
      comment: 'A screen of one domain is not built on those of another: they share what is in shared and api.',
      severity: 'error',
      from: { path: '^console/src/features/([^/]+)/' },
      to: { path: '^console/src/features/', pathNot: '^console/src/features/$1/' },
    },
    {
      name: 'console-layers',
      comment: 'The app has features, features use shared and api, and these know neither.',
      severity: 'error',
      from: { path: '^console/src/(features|shared|api)/' },
      to: { path: '^console/src/app/' },
    },
    {
      name: 'console-shared-is-lowest',
      comment: 'What all screens share knows none of them.',
      severity: 'error',
      from: { path: '^console/src/(shared|api)/' },
      to: { path: '^console/src/features/' },
    },
    {
      name: 'no-cycles',
      comment: 'Whatever imports itself, however indirectly, cannot be understood or replaced in parts.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...inOrder(
      'src/modules',
      domains.map(({ path }) => path),
    ),
    ...domains.flatMap(({ path, subjects = [] }) => inOrder(`src/modules/${path}`, subjects)),
    {
      name: 'domain-has-a-place',
      comment: 'A new domain takes its place in src/modules/layers.json.',
      severity: 'error',
      from: {},
      to: { path: '^src/modules/[^/]+/', pathNot: `^src/modules/(${domains.map(({ path }) => path).join('|')})/` },
    },
    ...domains
      .filter(({ subjects }) => subjects)
      .map(({ path, subjects }) => ({
        name: `${path}-subject-has-a-place`,
        comment: 'A new subject of a domain takes its place in src/modules/layers.json.',
        severity: /** @type {const} */ ('error'),
        from: {},
        to: {
          path: `^src/modules/${path}/[^/]+/`,
          pathNot: `^src/modules/${path}/(${[...(subjects ?? []), 'entities', 'dto'].join('|')})/`,
        },
      })),
    {
      name: 'kernel-is-lowest',
      comment: 'HTTP and background work are built on the kernel, which knows neither of them.',
      severity: 'error',
      from: { path: '^src/platform/kernel/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/platform/(http|background)/' },
    },
    {
      name: 'http-beside-background',
      comment: 'HTTP and background work do not know each other: a process may have one without the other.',
      severity: 'error',
      from: { path: '^src/platform/(http|background)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/platform/(http|background)/', pathNot: '^src/platform/$1/' },
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
      name: 'sdk-stands-alone',
      comment: 'The TypeScript SDK is installed elsewhere, without packages.',
      severity: 'error',
      from: { path: '^sdk/typescript/src/', pathNot: tests },
      to: { path: '.', pathNot: '^sdk/typescript/src/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'sdk-runs-in-browsers',
      comment: 'Only the entry for Node, and what is in its folder, need Node.',
      severity: 'error',
      from: { path: '^sdk/typescript/src/', pathNot: `^sdk/typescript/src/(index\\.ts$|node/)|${tests}` },
      to: { path: '^sdk/typescript/src/(index\\.ts$|node/)' },
    },
    {
      name: 'sdk-needs-no-node',
      comment: 'Only the folder node has imports of Node.',
      severity: 'error',
      from: { path: '^sdk/typescript/src/', pathNot: `^sdk/typescript/src/node/|${tests}` },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'sdk-core-is-small',
      comment: 'The core is for programs whose size counts, so it has none of the classes above single operations.',
      severity: 'error',
      from: { path: '^sdk/typescript/src/core\\.ts$' },
      to: {
        path: '^sdk/typescript/src/(client|face|workspaces|clusters|runs|notebooks|files|functions|sql|catalogs)\\.ts$',
        reachable: true,
      },
    },
    {
      name: 'no-test-code-in-production',
      comment: 'Specs, contract suites of adapters, and all of test/ are not part of the build.',
      severity: 'error',
      from: { path: '^(src|libs|sdk/typescript/src)/', pathNot: tests },
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
      // The SDK's sources are read, whether or not it was built.
      conditionNames: ['source', 'types', 'require', 'node', 'default', 'import'],
      mainFields: ['types', 'main'],
      extensions: ['.ts', '.tsx', '.js', '.cjs', '.mjs', '.json', '.d.ts'],
    },
  },
};
