/**
 * Returns a controller that aborts when this process is asked to end, by a signal or by the end of npm.
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
 * npm forwards SIGTERM only to the shell in which it runs this process, and the shell dies without passing it on. Under npm,
 * the loss of the parent therefore counts as the signal.
 * @param {() => void} onEnd called once
 */
export function onEndOfNpm(onEnd) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onEnd();
  }, 200);
  timer.unref();
}
