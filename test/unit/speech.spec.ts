import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultsOfComment, faultsOfPython } from '../../scripts/speech/speech.mjs';

const root = join(__dirname, '..', '..');

describe('a comment', () => {
  it.each([
    'Returns the nodes that hold a lease.',
    'True if the node holds a lease.',
    'What happens if the lease expires? The node ends its runs.',
    'How often? Once per minute.',
    'As the lock is held, nothing changes.',
    'By then the root of the answer has begun.',
    'Where minimum and maximum contradict each other, the maximum holds.',
    'When a node joins, the worker writes its address.',
    'Answers every request with an error.',
    'Answers of the service are validated.',
    'Cases are told apart by their codes.',
    'The step bring-nodes failed.',
    '@param whoAmI what the caller is',
    'eslint-disable no-console -- anew',
  ])('may be "%s"', (text) => {
    expect(faultsOfComment(text)).toEqual([]);
  });

  it.each([
    ['Of the text, in hex.', 'Of'],
    ['Those that have ended.', 'Those'],
    ['Such ids.', 'Such'],
    ['What the store holds.', 'What'],
    ['Whether the worker is dead.', 'Whether'],
    ['How long a worker waits, milliseconds.', 'How'],
    ['Where a list goes on.', 'Where'],
    ['Where it is kept; null if nowhere, or unknown.', 'Where'],
    ['As `repositoryUrl` writes it.', 'As'],
    ['By whose rules credentials are checked.', 'By'],
    ['Answers whether they were associated.', 'Answers'],
    ['Locks the row, so that whoever\nwaits reads it.', 'whoever'],
    ['Nothing but what is asked for.', 'is asked for'],
    ['Reads the file anew.', 'anew'],
  ])('is not "%s"', (text, word) => {
    expect(faultsOfComment(text)[0]).toContain(`"${word}"`);
  });
});

describe('a Python source', () => {
  it('is checked in comments, docstrings and names', () => {
    const source = [
      '#!/usr/bin/python3',
      '"""What a run does."""',
      'MOST_ROWS = 5',
      'def f():',
      '    # Of a run',
      '    # that ended.',
    ];
    expect(faultsOfPython(source.join('\n')).map(({ line, message }) => [line, /"(\w+)"/.exec(message)?.[1]])).toEqual([
      [2, 'What'],
      [3, 'MOST'],
      [5, 'Of'],
    ]);
  });

  it('passes in all Python files', () => {
    const files = ['libs', 'test', 'scripts']
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
      )
      .filter((file) => file.endsWith('.py'));
    expect(files.length).toBeGreaterThan(10);
    const faults = files.flatMap((file) =>
      faultsOfPython(readFileSync(join(root, file), 'utf8')).map((fault) => ({ file, ...fault })),
    );
    expect(faults).toEqual([]);
  });
});

describe('the lint rule', () => {
  /** Runs the linter as a command: it replaces globals of the process that loads it. */
  function linesOf(code: string): string[] {
    const folder = mkdtempSync(join(tmpdir(), 'speech-'));
    try {
      writeFileSync(join(folder, 'example.ts'), code);
      const config = join(root, 'scripts', 'speech', 'oxlint.config.mjs');
      const args = ['-c', config, '-f', 'unix', join(folder, 'example.ts')];
      const { stdout } = spawnSync(join(root, 'node_modules', '.bin', 'oxlint'), args, { encoding: 'utf8' });
      return [...stdout.matchAll(/example\.ts:(\d+):\d+: (.*?"[^"]*")/g)].map(
        ([, line = '', text = '']) => `${line}: ${text}`,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it('finds comments, strings, templates and names', () => {
    const code = [
      '/** What a run holds. */',
      'const MOST_RUNS = 5;',
      '// Of a run',
      '// that is told nothing.',
      'class Runs {',
      '  static #LEAST_MS = 5;',
      '  HIDDEN_AT_MOST_MS = 6;',
      '}',
      "throw new Error('Is read anew.');",
      'log(`Reads ${name} anew.`);',
    ];
    expect(linesOf(code.join('\n')).toSorted()).toEqual([
      '10: Avoid "anew"',
      '1: A comment does not open with "What"',
      '2: A constant is not named "MOST"',
      '3: A comment does not open with "Of"',
      '3: Avoid "is told"',
      '6: A constant is not named "LEAST"',
      '7: A constant is not named "MOST"',
      '9: Avoid "anew"',
    ]);
  });

  it('ignores names and quotations', () => {
    const code = [
      "import anew from 'anew';",
      '// Runs hold a slot.',
      '// Of these, one is free.',
      'const MAX_RUNS = anew(5);',
      "throw new Error('The cluster has no node. Start it.'); // told apart by its code",
    ];
    expect(linesOf(code.join('\n'))).toEqual([]);
  });
});
