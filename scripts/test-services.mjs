#!/usr/bin/env node
// What tests need beside their own code, for as long as the standard input stays open: jest starts this for a run that
// prepared nothing. Arguments: what is needed, see scripts/embedded/test-services.mjs. Prints the variables by which tests
// find it as one line of JSON, and what it is about on the standard error. A program of its own, because neither a Ctrl-C
// nor a kill lets jest end what it started: when jest is gone, whatever the way, the input closes.
import { TestServices } from './embedded/test-services.mjs';

/** @typedef {import('./embedded/test-services.mjs').Need} Need */

/** @returns {Promise<number>} status */
async function main() {
  const controller = new AbortController();
  const services = new TestServices({ onProgress: (text) => console.error(text), signal: controller.signal });
  const inputClosed = new Promise((resolve) => process.stdin.resume().once('close', resolve).once('end', resolve));
  void inputClosed.then(() => controller.abort(new Error('Nobody waits for it any longer.')));
  // The terminal signals all its processes; the input says when it is really over.
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
