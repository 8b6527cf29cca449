#!/usr/bin/env node
// npm run audit: checks the Node packages that the product runs on against the registry's advisories.
// Status 0: no vulnerability of high or critical severity. 1: at least one. 2: the advisories could not be read.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmCommand, projectRoot } from './embedded/install.mjs';
import { withDeadline } from './embedded/deadline.mjs';

const SERIOUS = ['high', 'critical'];
const DEADLINE_MS = 120_000;

/**
 * @typedef {object} Audit
 * @property {string | null} unread why the advisories could not be read
 * @property {string[]} serious a line for each package with an advisory of high or critical severity
 * @property {number} others the number of packages with only lesser advisories
 */

/**
 * A package in npm's report; `via` has its advisories, or the names of the packages that it inherits them from.
 * @typedef {object} Finding
 * @property {string} name
 * @property {string} severity
 * @property {string} range
 * @property {(string | {title: string, url?: string})[]} via
 */

/**
 * @param {{signal?: AbortSignal, env?: NodeJS.ProcessEnv}} [options]
 * @returns {Promise<Audit>}
 */
export async function auditProduction({ signal, env = process.env } = {}) {
  const [command, ...first] = npmCommand();
  const args = [...first, 'audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=30000'];
  const limit = withDeadline(DEADLINE_MS, signal);
  const output = await outputOf(command, args, {
    cwd: projectRoot,
    env,
    maxBuffer: 2 ** 26,
    signal: limit,
    encoding: 'utf8',
  });
  signal?.throwIfAborted();
  const report = parse(output);
  if (!report.vulnerabilities) return { unread: report.message ?? 'npm gave no report', serious: [], others: 0 };
  const found = Object.values(report.vulnerabilities);
  const serious = found.filter(({ severity }) => SERIOUS.includes(severity));
  return { unread: null, serious: serious.map(describe), others: found.length - serious.length };
}

/**
 * Returns the output even if npm ends with an error status, as it does when there are findings.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').ExecFileOptionsWithStringEncoding} options
 * @returns {Promise<string>}
 */
function outputOf(command, args, options) {
  return new Promise((done) => execFile(command, args, options, (_, stdout) => done(stdout)));
}

/** @param {string} output @returns {{vulnerabilities?: Record<string, Finding>, message?: string}} */
function parse(output) {
  try {
    return JSON.parse(output);
  } catch {
    return {};
  }
}

/** @param {Finding} finding */
function describe({ name, severity, range, via }) {
  const reasons = via.map((cause) => (typeof cause === 'string' ? `by ${cause}` : `${cause.title} ${cause.url ?? ''}`));
  return `${severity}: ${`${name} ${range}`.trim()}: ${[...new Set(reasons)].join('; ').trim()}`;
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { unread, serious, others } = await auditProduction();
  if (unread) console.log(`Nothing was audited: ${unread}`);
  else console.log([...serious, `${serious.length} packages of high or critical severity, ${others} below`].join('\n'));
  if (unread) process.exitCode = 2;
  else process.exitCode = serious.length > 0 ? 1 : 0;
}
