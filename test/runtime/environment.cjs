const { appendFileSync } = require('node:fs');
const { ModuleMocker } = require('jest-mock');
const { ModernFakeTimers } = require('@jest/fake-timers');

/** True while a test file runs in this process. */
let isRunning = false;
noteLateErrors(process.env.TEST_LATE_ERRORS);

/**
 * The environment of test files that share a process and its modules; its global object is that of the process. Every file
 * must find the process as the first one did, so a file's changes are undone when it ends, and it fails if it leaves
 * something behind that cannot be undone.
 */
module.exports = class SharedProcessEnvironment {
  constructor({ projectConfig }) {
    this.options = projectConfig.testEnvironmentOptions;
    this.before = snapshot();
    /** Set by the runtime. */
    this.hasFailedToLoad = false;
    this.hasFailedTest = false;
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    // jest-circus keeps its state and event handlers on the global object and must create new ones for each file.
    for (const name of Object.getOwnPropertySymbols(globalThis)) {
      if (name.description === 'JEST_STATE_SYMBOL' || name.description === 'EVENT_HANDLERS') delete globalThis[name];
    }
  }

  async setup() {
    isRunning = true;
  }

  async teardown() {
    isRunning = false;
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    const { before } = this;
    globalThis.console = before.console;
    process.exit = before.exit;
    restoreEnv(before.env);
    const leaks = [...undoListeners(before.listeners), ...undoBuiltins(before), ...(await openedSince(before))];
    // If a file cannot be loaded or a test fails, Jest should report why, not that something was not undone: an error here
    // takes the place of all results.
    if (leaks.length === 0 || this.hasFailedToLoad || this.hasFailedTest) return;
    throw new Error(
      `This test file leaves behind: ${leaks.join('; ')}. Undo each in the file, because the next one shares its process.`,
    );
  }

  /** @param {{name: string}} event of jest-circus */
  handleTestEvent({ name }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.hasFailedTest = true;
  }

  /** Jest refuses an environment without this method, which it calls only to collect coverage. */
  getVmContext() {
    return null;
  }
};

/**
 * Only tests open these kinds of `process.getActiveResourcesInfo()`. Sockets and timers are not among them, because they may
 * belong to a library's pool.
 */
const WATCHED_RESOURCES = [
  ...['TCPServerWrap', 'PipeServerWrap', 'UDPWrap', 'ProcessWrap', 'FSEvent', 'StatWatcher', 'Worker'],
];

/** Closed handles and killed processes take some time to disappear. */
const CLOSE_TIMEOUT_MS = 2_000;

function snapshot() {
  return {
    console: globalThis.console,
    exit: process.exit,
    env: { ...process.env },
    folder: process.cwd(),
    umask: process.umask(),
    title: process.title,
    builtins: builtinsNow(),
    listeners: listenersNow(),
    resources: countResources(),
  };
}

/** @param {NodeJS.ProcessEnv} env */
function restoreEnv(env) {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

/** @param {ReturnType<typeof snapshot>} before @returns {Promise<string[]>} */
async function openedSince(before) {
  const leaks = [];
  let open = increases(before.resources, countResources());
  for (const deadline = Date.now() + CLOSE_TIMEOUT_MS; open.length > 0 && Date.now() < deadline;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    open = increases(before.resources, countResources());
  }
  for (const [type, count] of open) leaks.push(`open ${type} (${count})`);
  return leaks;
}

/** No module listens for these events of the process from the time it is loaded, so a new listener is a test's. */
const WATCHED_EVENTS = [
  ...['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2', 'uncaughtException', 'unhandledRejection', 'message'],
];

function listenersNow() {
  return new Map(WATCHED_EVENTS.map((event) => [event, process.rawListeners(event)]));
}

/** Restores the listeners: jest-circus replaces some by its own, and does not undo that if the file cannot be loaded. */
function undoListeners(before) {
  const leaks = [];
  for (const [event, listeners] of before) {
    const now = process.rawListeners(event);
    const added = now.filter((listener) => !listeners.includes(listener));
    for (const listener of added) process.off(event, listener);
    for (const listener of listeners) if (!now.includes(listener)) process.on(event, listener);
    if (added.length > 0) leaks.push(`listeners for ${event} (${added.length})`);
  }
  return leaks;
}

/**
 * Objects whose functions tests are tempted to replace, and which the next file would find replaced. Those of `process`
 * and `fs` are replaced by packages as they load.
 */
const BUILTINS = Object.entries({ globalThis, Math, Date, JSON, Promise, stdout: process.stdout });
/** Each test file gets its own of these, or they are restored elsewhere. */
const OWN = new Set([
  ...['jest', 'expect', 'it', 'test', 'fit', 'xit', 'xtest', 'describe', 'fdescribe', 'xdescribe'],
  ...['beforeAll', 'beforeEach', 'afterAll', 'afterEach', 'console'],
]);

/** The functions of each. Node defines some when they are first used, so accessors are left out. */
function builtinsNow() {
  return BUILTINS.map(([, owner]) => {
    const properties = Object.entries(Object.getOwnPropertyDescriptors(owner));
    return new Map(properties.filter(([name, { value }]) => typeof value === 'function' && !OWN.has(name)));
  });
}

function undoBuiltins({ builtins, folder, umask, title }) {
  const leaks = [];
  for (const [index, functions] of builtins.entries()) {
    const [name, owner] = BUILTINS[index];
    for (const [key, descriptor] of functions) {
      if (Object.getOwnPropertyDescriptor(owner, key)?.value === descriptor.value) continue;
      leaks.push(`another ${name}.${key}`);
      Object.defineProperty(owner, key, descriptor);
    }
  }
  if (process.cwd() !== folder) leaks.push(`another working directory (${process.cwd()})`);
  if (process.umask() !== umask) leaks.push('another umask');
  if (process.title !== title) leaks.push('another title of the process');
  process.chdir(folder);
  process.umask(umask);
  process.title = title;
  return leaks;
}

/**
 * Records errors that come after the end of a test file. If no other file is running, such an error ends the process, and
 * Jest silently starts another one.
 * @param {string | undefined} file the errors are appended to it
 */
function noteLateErrors(file) {
  if (!file || !process.send) return;
  process.on('uncaughtExceptionMonitor', (error) => {
    if (!isRunning) appendFileSync(file, `${error?.stack ?? error}\n`);
  });
  process.on('exit', (code) => {
    if (code !== 0) appendFileSync(file, `A process of tests ended with ${code}.\n`);
  });
}

function countResources() {
  const active = process.getActiveResourcesInfo();
  return countBy(WATCHED_RESOURCES, (type) => active.filter((name) => name === type).length);
}

/** @param {Map<string, number>} before @param {Map<string, number>} now @returns {[string, number][]} */
function increases(before, now) {
  const changes = [...now].map(
    ([name, count]) => /** @type {[string, number]} */ ([name, count - (before.get(name) ?? 0)]),
  );
  return changes.filter(([, count]) => count > 0);
}

/** @template T @param {T[]} values @param {(value: T) => number} count */
function countBy(values, count) {
  return new Map(values.map((value) => [value, count(value)]));
}
