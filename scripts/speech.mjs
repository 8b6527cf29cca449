#!/usr/bin/env node
// Counts the findings of the rule of speech (scripts/speech/words.mjs) by folder, or lists them for the named folders and files:
//   node scripts/speech.mjs [libs/json src/config ...]
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './embedded/install.mjs';
import { filesBelow, folderOf, isAmong, SOURCES } from './speech/folders.mjs';
import { faultsOfPython } from './speech/speech.mjs';
import { EXEMPT, NOT_YET } from './speech/words.mjs';

/** @typedef {{file: string, line: number, message: string}} Found */

process.chdir(projectRoot);
const named = process.argv.slice(2);
const missing = named.filter((path) => !existsSync(path));
if (missing.length > 0) {
  console.error(`No such file or folder: ${missing.join(', ')}`);
  process.exit(2);
}
const found = [...inScripts(), ...inPython()].filter(({ file }) => !isAmong(file, EXEMPT));
if (named.length > 0) for (const { file, line, message } of found) console.log(`${file}:${line}: ${message}`);
else {
  const counts = new Map(NOT_YET.map((folder) => [folder, 0]));
  for (const { file } of found) counts.set(folderOf(file), (counts.get(folderOf(file)) ?? 0) + 1);
  for (const [folder, count] of [...counts].sort(([, a], [, b]) => b - a))
    console.log(`${String(count).padStart(6)} ${folder}${NOT_YET.includes(folder) ? '' : ' (checked)'}`);
}
console.log(`${String(found.length).padStart(6)} in all`);

/** @returns {Found[]} */
function inScripts() {
  const oxlint = join('node_modules', '.bin', 'oxlint');
  const args = [
    '-c',
    join('scripts', 'speech', 'oxlint.config.mjs'),
    '-f',
    'json',
    ...(named.length > 0 ? named : SOURCES),
  ];
  const { stdout, stderr, error } = spawnSync(oxlint, args, { encoding: 'utf8', maxBuffer: 1 << 30 });
  if (error ?? !stdout.startsWith('{')) throw new Error(`oxlint failed: ${stderr || stdout}`, { cause: error });
  /** @type {{diagnostics: {filename: string, message: string, labels: {span: {line: number}}[]}[]}} */
  const { diagnostics } = JSON.parse(stdout);
  return diagnostics.map(({ filename, message, labels }) => ({
    file: filename,
    line: labels[0]?.span.line ?? 1,
    message,
  }));
}

/** @returns {Found[]} */
function inPython() {
  const files = filesBelow(SOURCES).filter(
    (file) => file.endsWith('.py') && (named.length === 0 || isAmong(file, named)),
  );
  return files.flatMap((file) => faultsOfPython(readFileSync(file, 'utf8')).map((fault) => ({ file, ...fault })));
}
