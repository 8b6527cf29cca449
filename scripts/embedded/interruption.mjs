/**
 * A controller that aborts when this process is asked to end: by a signal, or by the end of npm.
 * @returns {AbortController}
 */
export function abortedByInterruption() {
  const controller = new AbortController();
  /** @param {string} why */
  const interrupt = (why) => controller.abort(new Error(`Interrupted by ${why}.`));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => interrupt(name));
  onEndOfNpm(() => interrupt('the end of npm'));
  return controller;
}

/**
 * npm passes a SIGTERM on to the shell between it and this process, and the shell dies of it without a word to its child.
 * So under npm the loss of the parent is the signal.
 * @param {() => void} end called once
 */
export function onEndOfNpm(end) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end();
  }, 200);
  timer.unref();
}
