import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { driverPython } from './driver-python';

describe('driverPython', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'driver-python-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Returns both logs after a shell, in place of Java, has started a program with its streams merged. */
  function started(python: string): { status: number | null; out: string; err: string } {
    const { file } = driverPython(python, `${folder}/driver-python`);
    writeFileSync(file.path, file.content, { mode: 0o700 });
    const streams = ['out', 'err'].map((name) => openSync(`${folder}/${name}`, 'a'));
    const { status } = spawnSync(
      '/bin/sh',
      ['-c', '(exec "$0" 2>&1) & wait $!; end=$?; echo java >&2; exit $end', file.path],
      {
        stdio: ['ignore', ...streams],
      },
    );
    for (const stream of streams) closeSync(stream);
    return { status, out: readFileSync(`${folder}/out`, 'utf8'), err: readFileSync(`${folder}/err`, 'utf8') };
  }

  it('gives a driver the stderr of the process that starts it', () => {
    const program = `${folder}/it's Python`;
    writeFileSync(program, '#!/bin/sh\necho said\necho wrong >&2\nexit 3\n', { mode: 0o700 });
    expect(started(program)).toEqual({ status: 3, out: 'said\n', err: 'wrong\njava\n' });
  });

  it('reports a Python that does not exist', () => {
    const err = 'The Python of the driver, ./environment/bin/python, is not a program on the node.\njava\n';
    expect(started('./environment/bin/python')).toEqual({ status: 127, out: '', err });
  });
});
