import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = join(__dirname, 'beside_driver.py');

/** Makes tar.gz and zip files of entries: name, type, and text or the target of a link. */
const PACK = `
import io, json, sys, tarfile, zipfile
for file, entries in json.load(sys.stdin).items():
    if file.endswith(".zip"):
        with zipfile.ZipFile(file, "w") as archive:
            for name, kind, text in entries:
                info = zipfile.ZipInfo(name)
                info.external_attr = (0o120777 if kind == "link" else 0o100755) << 16
                archive.writestr(info, text)
        continue
    with tarfile.open(file, "w:gz") as archive:
        for name, kind, text in entries:
            info = tarfile.TarInfo(name)
            info.mode = 0o6755
            if kind == "file":
                info.size = len(text)
            else:
                info.type = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "device": tarfile.CHRTYPE, "folder": tarfile.DIRTYPE}[kind]
                info.linkname = text
            archive.addfile(info, io.BytesIO(text.encode()) if kind == "file" else None)
`;

type Entry = [name: string, kind: 'file' | 'link' | 'hard' | 'device' | 'folder', text: string];

const hasPython = spawnSync('python3', ['--version']).status === 0;

(hasPython ? describe : describe.skip)('beside_driver.py', () => {
  let folder: string;
  let work: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'beside-'));
    work = `${folder}/work`;
    mkdirSync(work);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const packed = (entries: Record<string, Entry[]>) => {
    const named = Object.fromEntries(Object.entries(entries).map(([name, list]) => [`${folder}/${name}`, list]));
    execFileSync('python3', ['-c', PACK], { input: JSON.stringify(named) });
  };
  /** Starts the run in the working directory and returns its status and output. */
  const begun = (wanted: { files?: [string, string][]; archives?: [string, string][] }, script: string) => {
    const staged = (list: [string, string][] = []) => list.map(([file, name]) => [`${folder}/${file}`, name]);
    writeFileSync(
      `${folder}/wanted`,
      JSON.stringify({ files: staged(wanted.files), archives: staged(wanted.archives) }),
    );
    const argv = ['-I', '-S', PROGRAM, `${folder}/wanted`, '/bin/sh', '-c', script, 'a b'];
    return spawnSync('python3', argv, { cwd: work, encoding: 'utf8' });
  };

  it('puts files and the content of archives into the working directory, and becomes the run', () => {
    packed({
      'env.tar.gz': [
        ['bin', 'folder', ''],
        ['bin/tool', 'file', '#!/bin/sh\necho packed\n'],
        ['bin/python', 'link', 'tool'],
        ['bin/sh', 'link', '/bin/sh'],
        ['bin/hard', 'hard', 'bin/tool'],
      ],
      'more, 2.zip': [
        ['lib/tool', 'file', '#!/bin/sh\necho zipped\n'],
        ['lib/link', 'link', 'tool'],
      ],
    });
    writeFileSync(`${folder}/sales, 2024.csv`, 'rows\n');
    const archives: [string, string][] = [
      ['env.tar.gz', 'environment'],
      ['more, 2.zip', 'more'],
      ['sales, 2024.csv', 'plain'],
    ];
    const script =
      'cat "sales, 2024.csv" plain; for f in python hard; do environment/bin/$f; done; more/lib/link; echo "$0"; exit 3';
    const { status, stdout, stderr } = begun({ files: [['sales, 2024.csv', 'sales, 2024.csv']], archives }, script);
    expect([status, stdout, stderr]).toEqual([3, 'rows\nrows\npacked\npacked\nzipped\na b\n', '']);
    expect(statSync(`${work}/environment/bin/tool`).mode & 0o7777).toBe(0o755);
  });

  it.each<[string, Entry[]]>([
    ['above', [['../stolen', 'file', 'x']]],
    ['above, in the middle', [['a/../../stolen', 'file', 'x']]],
    [
      'behind a link',
      [
        ['out', 'link', '..'],
        ['out/stolen', 'file', 'x'],
      ],
    ],
    ['by a hard link', [['stolen', 'hard', '../secret']]],
    [
      'by a hard link through a link',
      [
        ['out', 'link', '..'],
        ['stolen', 'hard', 'out/secret'],
      ],
    ],
  ])('extracts nothing from an archive that leads %s', (_what, entries) => {
    writeFileSync(`${folder}/secret`, 'secret');
    packed({ 'evil.tar.gz': [['fine', 'file', 'x'], ...entries] });
    const { status, stderr } = begun({ archives: [['evil.tar.gz', 'evil']] }, 'exit 0');
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(/^evil is not in the working directory.*leads out of it\n$/),
    ]);
    for (const path of [`${work}/stolen`, `${folder}/stolen`, `${work}/evil`])
      expect(() => lstatSync(path)).toThrow('ENOENT');
  });

  it('extracts nothing from a zip file that leads through a link', () => {
    packed({
      'evil.zip': [
        ['out', 'link', '..'],
        ['out/stolen', 'file', 'x'],
      ],
    });
    expect(begun({ archives: [['evil.zip', 'evil']] }, 'exit 0').stderr).toContain('leads out of it');
    expect(() => lstatSync(`${work}/stolen`)).toThrow('ENOENT');
  });

  it('makes devices and absolute names harmless', () => {
    packed({
      'odd.tar.gz': [
        ['null', 'device', ''],
        ['/etc/x', 'file', 'own'],
      ],
    });
    expect(begun({ archives: [['odd.tar.gz', 'odd']] }, 'ls odd').stdout).toBe('etc\n');
    expect(readFileSync(`${work}/odd/etc/x`, 'utf8')).toBe('own');
  });

  it('starts the run even if an archive is invalid, and replaces no files', () => {
    writeFileSync(`${folder}/half.zip`, 'PK');
    writeFileSync(`${work}/there`, 'mine');
    const { status, stdout, stderr } = begun(
      { files: [['half.zip', 'there']], archives: [['half.zip', 'half']] },
      'cat there',
    );
    expect([status, stdout]).toEqual([0, 'mine']);
    expect(stderr).toBe('half is not in the working directory of the driver: File is not a zip file\n');
  });

  it('restores the default signals', () => {
    writeFileSync(`${folder}/f`, '');
    expect(begun({ files: [['f', 'f']] }, 'yes | head -n 1; yes >&-; grep SigIgn /proc/self/status').stdout).toMatch(
      /^y\nSigIgn:\t0+\n$/,
    );
  });
});
