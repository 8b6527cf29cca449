/**
 * A controller that aborts when this process is asked to end: by a signal, or by the end of npm, which passes a SIGTERM on to
 * the shell between it and this process, and the shell dies silently.
 * @returns {AbortController}
 */
export function abortedByInterruption() {
  const controller = new AbortController();
  /** @param {string} why */
  const interrupt = (why) => controller.abort(new Error(`Interrupted by ${why}.`));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => interrupt(name));
  if (!process.env.npm_lifecycle_event) return controller;
  const parent = process.ppid;
  const watch = () => {
    if (process.ppid !== parent) interrupt('the end of npm');
  };
  setInterval(watch, 200).unref();
  return controller;
}
