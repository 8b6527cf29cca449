const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { join, sep } = require('node:path');
const { register, sourceMaps } = require('./typescript.cjs');

const ROOT = join(__dirname, '..', '..');

/**
 * A test file that replaces modules, or adds to the workflows that every worker must implement, loads its own copy of the
 * project's modules; all others share one copy.
 */
const NEEDS_OWN_MODULES = /^jest\.mock\(|^const \w+ = defineWorkflow\(/m;

/**
 * Loading the API takes longer than the tests of most files, so test files run in the process itself and share its modules.
 * This class replaces jest-runtime, which loads and evaluates every module again for each file; all else is Jest's own.
 */
module.exports = class SharedModulesRuntime {
  /** @type {OwnModules | undefined} */
  #ownModules;
  #environment;
  #testPath;

  constructor(_config, environment, _resolver, _transformer, sources, _coverage, testPath) {
    register();
    this.#environment = environment;
    this.#testPath = testPath;
    const source = sources.get(testPath) ?? readFileSync(testPath, 'utf8');
    if (NEEDS_OWN_MODULES.test(source)) this.#ownModules = new OwnModules(testPath);
    globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = environment.options.testTimeoutMs;
    globalThis.jest = this.#jest();
  }

  /** In watch mode, Jest may run a test file again in the same process, and it must then be evaluated again. */
  requireModule(path) {
    if (path !== this.#testPath) return require(path);
    delete require.cache[path];
    try {
      return require(path);
    } catch (error) {
      this.#environment.hasFailedToLoad = true;
      throw error;
    }
  }

  /** jest-circus keeps the tests of a file in the state of its modules, so each file loads it again. */
  requireInternalModule(path) {
    for (const file of Object.keys(require.cache)) if (isInPackage(file, 'jest-circus')) delete require.cache[file];
    return require(path);
  }

  setGlobalsForRuntime() {}

  getSourceMaps() {
    return sourceMaps;
  }

  unstable_shouldLoadAsEsm() {
    return false;
  }

  enterTestCode() {}
  leaveTestCode() {}
  getAllCoverageInfoCopy() {}

  clearAllMocks() {
    this.#environment.moduleMocker.clearAllMocks();
  }

  resetAllMocks() {
    this.#environment.moduleMocker.resetAllMocks();
  }

  restoreAllMocks() {
    this.#environment.moduleMocker.restoreAllMocks();
  }

  teardown() {
    this.#ownModules?.restore();
    // Nothing else loads a test file, so it need not stay in the cache.
    delete require.cache[this.#testPath];
    Module.flushCompileCache?.();
  }

  #jest() {
    const { moduleMocker: mocker, fakeTimersModern: timers } = this.#environment;
    const jest = {
      fn: mocker.fn.bind(mocker),
      spyOn: mocker.spyOn.bind(mocker),
      replaceProperty: mocker.replaceProperty.bind(mocker),
      isMockFunction: mocker.isMockFunction.bind(mocker),
      mocked: (value) => value,
      clearAllMocks: chained(() => this.clearAllMocks()),
      resetAllMocks: chained(() => this.resetAllMocks()),
      restoreAllMocks: chained(() => this.restoreAllMocks()),
      useFakeTimers: chained((options) => timers.useFakeTimers(options)),
      useRealTimers: chained(() => timers.useRealTimers()),
      setSystemTime: chained((now) => timers.setSystemTime(now)),
      setTimeout: chained((milliseconds) => (globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = milliseconds)),
      mock: chained((name, factory) => this.#requireOwnModules().replace(name, factory)),
      requireActual: (name) => this.#requireOwnModules().requireActual(name),
    };
    for (const name of TIMER_FUNCTIONS) jest[name] = timers[name].bind(timers);
    function chained(action) {
      return (...args) => {
        action(...args);
        return jest;
      };
    }
    return jest;
  }

  #requireOwnModules() {
    if (this.#ownModules) return this.#ownModules;
    throw new Error(
      'This test file shares its modules with others and cannot replace them. Call jest.mock() at the start of a line.',
    );
  }
};

const TIMER_FUNCTIONS = [
  ...['advanceTimersByTime', 'advanceTimersByTimeAsync', 'advanceTimersToNextTimer', 'advanceTimersToNextTimerAsync'],
  ...['runAllTimers', 'runAllTimersAsync', 'runOnlyPendingTimers', 'runOnlyPendingTimersAsync', 'runAllTicks'],
  ...['clearAllTimers', 'getTimerCount', 'getRealSystemTime', 'now'],
];

/** The copy of the project's modules that one test file loads, some of them replaced. */
class OwnModules {
  /** The key is the path of a module, or the name of a built-in one. @type {Map<string, {factory: () => unknown, exports?: unknown}>} */
  #replacements = new Map();
  #load = Module._load;
  #shared;
  #testPath;

  /** @param {string} testPath */
  constructor(testPath) {
    this.#testPath = testPath;
    this.#shared = takeProjectModules();
    Module._load = (request, parent, isMain) => {
      const replacement = this.#replacements.size > 0 && this.#replacements.get(resolve(request, parent?.filename));
      if (!replacement) return this.#load.call(Module, request, parent, isMain);
      if (!('exports' in replacement)) replacement.exports = replacement.factory();
      return replacement.exports;
    };
  }

  /** @param {string} name @param {() => unknown} factory */
  replace(name, factory) {
    this.#replacements.set(resolve(name, this.#testPath), { factory });
  }

  /** @param {string} name */
  requireActual(name) {
    const path = resolve(name, this.#testPath);
    const replacement = this.#replacements.get(path);
    this.#replacements.delete(path);
    try {
      return Module.createRequire(this.#testPath)(name);
    } finally {
      if (replacement) this.#replacements.set(path, replacement);
    }
  }

  restore() {
    Module._load = this.#load;
    takeProjectModules();
    Object.assign(require.cache, this.#shared);
  }
}

/** Removes the project's modules from the cache and returns them. */
function takeProjectModules() {
  const taken = {};
  for (const [file, module] of Object.entries(require.cache)) {
    if (!file.startsWith(ROOT + sep) || file.includes(`${sep}node_modules${sep}`) || file.startsWith(__dirname))
      continue;
    taken[file] = module;
    delete require.cache[file];
  }
  return taken;
}

/** @param {string} request @param {string | undefined} from @returns {string} path, or the name of a built-in module */
function resolve(request, from) {
  if (Module.isBuiltin(request)) return request.replace(/^node:/, '');
  try {
    return Module.createRequire(from ?? __filename).resolve(request);
  } catch {
    // Node reports that the module is missing when it is loaded.
    return request;
  }
}

/** @param {string} file @param {string} name of a package */
function isInPackage(file, name) {
  return file.includes(`${sep}node_modules${sep}${name}${sep}`);
}
