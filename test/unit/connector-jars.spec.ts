import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const JAR = pathToFileURL(join(__dirname, '..', '..', 'scripts', 'connectors', 'jar.mjs')).href;
const WRITE = `
const { writeJar } = await import(${JSON.stringify(JAR)});
writeJar(...process.argv.slice(1));`;
const READ =
  'import json, sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(json.dumps({"damaged": z.testzip(), "content": {n: z.read(n).decode() for n in z.namelist()}}))';

describe('the jar of a connector', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'classes-'));
    mkdirSync(join(folder, 'org', 'first', 'nested'), { recursive: true });
    mkdirSync(join(folder, 'second'));
    writeFileSync(join(folder, 'org', 'first', 'B$.class'), 'the object');
    writeFileSync(join(folder, 'org', 'first', 'A.class'), 'the class');
    writeFileSync(join(folder, 'org', 'first', 'nested', 'C.class'), 'of another package');
    writeFileSync(join(folder, 'second', 'D.class'), 'of another package');
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const written = (packageName: string): string => {
    const file = join(folder, `${packageName}.jar`);
    const args = ['--input-type=module', '-e', WRITE, file, folder, packageName];
    execFileSync(process.execPath, args, { encoding: 'utf8', stdio: 'pipe' });
    return file;
  };

  it('has the classes of its package after a manifest', () => {
    const { damaged, content } = JSON.parse(
      execFileSync('python3', ['-c', READ, written('org.first')], { encoding: 'utf8' }),
    ) as { damaged: string | null; content: Record<string, string> };
    expect(damaged).toBeNull();
    expect(Object.entries(content)).toEqual([
      ['META-INF/MANIFEST.MF', 'Manifest-Version: 1.0\r\n\r\n'],
      ['org/first/A.class', 'the class'],
      ['org/first/B$.class', 'the object'],
    ]);
  });

  it('is the same whenever it is written', () => {
    const first = readFileSync(written('org.first'));
    expect(readFileSync(written('org.first')).equals(first)).toBe(true);
  });

  it('is not written if the package has no class', () => {
    expect(() => written('org')).toThrow('has no class');
  });
});
