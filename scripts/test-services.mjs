#!/usr/bin/env node
// Serves what tests need besides their own code for as long as the standard input stays open: jest starts this for a run that
// prepared nothing. The arguments are the needs, see scripts/embedded/test-services.mjs. It prints the variables for the tests as
// one line of JSON, and its progress on the standard error. It is a program of its own, because neither a Ctrl-C nor a kill lets
// jest end what it started, while the input always closes when jest is gone.
import { TestServices } from './embedded/test-services.mjs';

/** @typedef {import('./embedded/test-services.mjs').Need} Need */

/** @returns {Promise<number>} status */
async function main() {
  const controller = new AbortController();
  const services = new TestServices({ onProgress: (text) => console.error(text), signal: controller.signal });
  const inputClosed = new Promise((resolve) => process.stdin.resume().once('close', resolve).once('end', resolve));
  void inputClosed.then(() => controller.abort(new Error('Nobody waits for it any longer.')));
  // The terminal signals all its processes, but only the closed input marks the end.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, () => {});
  let status = 0;
  try {
    const needs = /** @type {Need[]} */ (process.argv.slice(2));
    const variables = await services.variables(...needs);
    const { TMPDIR = '', TEST_RUN_DIR = '' } = services.env;
    console.log(JSON.stringify({ TMPDIR, TEST_RUN_DIR, ...variables }));
    await inputClosed;
  } catch (error) {
    if (!controller.signal.aborted) console.error(error instanceof Error ? error.message : String(error));
    status = 1;
  }
  await services.close();
  return status;
}

process.exitCode = await main();
