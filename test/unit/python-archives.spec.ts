import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const COMPILE = resolve(__dirname, '..', '..', 'scripts', 'python-archives', 'compile.py');

const python = (...args: string[]) => execFileSync('python3', args, { encoding: 'utf8' }).trim();

describe('the archives of PySpark', () => {
  let sparkHome: string;
  let archive: string;
  let source: string;

  beforeEach(() => {
    sparkHome = mkdtempSync(join(tmpdir(), 'spark-home-'));
    const lib = join(sparkHome, 'python', 'lib');
    mkdirSync(lib, { recursive: true });
    archive = join(lib, 'pyspark.zip');
    source = join(archive, 'pyspark', '__init__.py');
    const write =
      'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1], "w"); z.writestr("pyspark/__init__.py", "def name(): return __name__"); z.writestr("pyspark/data.txt", "kept"); z.writestr("pyspark/newer.py", "what no Python knows")';
    python('-c', write, archive);
  });

  afterEach(() => {
    rmSync(sparkHome, { recursive: true });
  });

  const imported = () =>
    python(
      '-c',
      'import sys; sys.path.insert(0, sys.argv[1]); import pyspark; print(pyspark.name(), pyspark.__file__, pyspark.name.__code__.co_filename)',
      archive,
    );
  const names = () =>
    python('-c', 'import sys, zipfile; print(*sorted(zipfile.ZipFile(sys.argv[1]).namelist()))', archive);

  it('are imported as compiled code', () => {
    expect(imported()).toBe(`pyspark ${source} ${source}`);
    python(COMPILE, sparkHome);
    expect(imported()).toBe(`pyspark ${source}c ${source}`);
    expect(names()).toBe('pyspark/__init__.py pyspark/__init__.pyc pyspark/data.txt pyspark/newer.py');
  });

  it('can be compiled again, and leave no files behind', () => {
    python(COMPILE, sparkHome);
    python(COMPILE, sparkHome);
    expect(names()).toBe('pyspark/__init__.py pyspark/__init__.pyc pyspark/data.txt pyspark/newer.py');
    expect(readdirSync(join(sparkHome, 'python', 'lib'))).toEqual(['pyspark.zip']);
  });

  it('are imported from their sources by another version of Python', () => {
    python(COMPILE, sparkHome);
    const spoil =
      'import sys, zipfile; old = zipfile.ZipFile(sys.argv[1]); kept = {n: old.read(n) for n in old.namelist()}; z = zipfile.ZipFile(sys.argv[1], "w"); [z.writestr(n, b"\\0\\0\\0\\0" + c[4:] if n.endswith(".pyc") else c) for n, c in kept.items()]; z.close()';
    python('-c', spoil, archive);
    expect(imported()).toBe(`pyspark ${source} ${source}`);
  });
});
