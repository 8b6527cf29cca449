const { ModuleMocker } = require('jest-mock');
const { ModernFakeTimers } = require('@jest/fake-timers');

/**
 * The environment of test files that share a process and its modules: its global object is that of the process. What a
 * file changes there is undone when it ends; what cannot be undone fails the file, so that the next one finds the process
 * as the first did.
 */
module.exports = class SharedProcessEnvironment {
  constructor({ projectConfig }) {
    this.options = projectConfig.testEnvironmentOptions;
    this.before = snapshot();
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    // jest-circus keeps its state and its handlers of events there, and makes them anew for each file.
    for (const name of Object.getOwnPropertySymbols(globalThis)) {
      if (name.description === 'JEST_STATE_SYMBOL' || name.description === 'EVENT_HANDLERS') delete globalThis[name];
    }
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    const { before } = this;
    globalThis.console = before.console;
    process.exit = before.exit;
    restoreVariables(before.variables);
    const leaks = await leaksSince(before);
    if (leaks.length > 0) throw new Error(`The file leaves to the next one in its process: ${leaks.join('; ')}.`);
  }

  /** Jest asks for it to collect coverage, and takes no environment without it. */
  getVmContext() {
    return null;
  }
};

/** Kinds of `process.getActiveResourcesInfo()` that only a test opens: sockets and timers may belong to pools of a library. */
const OPENED = ['TCPServerWrap', 'PipeServerWrap', 'ProcessWrap', 'FSEvent', 'Worker'];

/** Milliseconds for what was closed or killed to be gone. */
const CLOSE_TIMEOUT_MS = 2_000;

function snapshot() {
  return {
    console: globalThis.console,
    exit: process.exit,
    variables: { ...process.env },
    folder: process.cwd(),
    listeners: listeners(),
    opened: opened(),
  };
}

/** @param {NodeJS.ProcessEnv} variables */
function restoreVariables(variables) {
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
}

/** @param {ReturnType<typeof snapshot>} before @returns {Promise<string[]>} */
async function leaksSince(before) {
  const leaks = [];
  if (process.cwd() !== before.folder) {
    leaks.push(`the working directory ${process.cwd()}`);
    process.chdir(before.folder);
  }
  for (const [event, count] of moreThan(before.listeners, listeners())) leaks.push(`${count} listeners to ${event}`);
  let more = moreThan(before.opened, opened());
  for (const deadline = Date.now() + CLOSE_TIMEOUT_MS; more.length > 0 && Date.now() < deadline;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    more = moreThan(before.opened, opened());
  }
  for (const [kind, count] of more) leaks.push(`${count} open ${kind}`);
  return leaks;
}

/** Events of the process to which no module listens from when it is loaded. */
const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'message'];

function listeners() {
  return countBy(EVENTS, (event) => process.listenerCount(event));
}

function opened() {
  const resources = process.getActiveResourcesInfo();
  return countBy(OPENED, (kind) => resources.filter((name) => name === kind).length);
}

/** @param {Map<string, number>} before @param {Map<string, number>} now @returns {[string, number][]} */
function moreThan(before, now) {
  const more = [...now].map(
    ([kind, count]) => /** @type {[string, number]} */ ([kind, count - (before.get(kind) ?? 0)]),
  );
  return more.filter(([, count]) => count > 0);
}

/** @template T @param {T[]} values @param {(value: T) => number} count */
function countBy(values, count) {
  return new Map(values.map((value) => [value, count(value)]));
}
