import { execFileSync } from 'node:child_process';
import { chownSync, closeSync, existsSync, fstatSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventLog } from './event-log';

describe('EventLog', () => {
  let dir: string;
  let folder: string;
  let uid: number | null;
  let application: string | null;
  const open = () =>
    new EventLog(
      dir,
      folder,
      uid,
      () => application,
      () => 100,
    );
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'event-log-'));
    folder = join(dir, 'box', 'events');
    mkdirSync(folder, { recursive: true });
    [uid, application] = [null, 'local-1'];
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('names the application', () => {
    expect(open().findApplication()).toBeNull();
    write('.local-2.inprogress.crc', '');
    write('local-1.inprogress', '');
    expect(open().findApplication()).toBe('local-1');
  });

  it('is read under both of its names, up to the limit', () => {
    const log = open();
    expect([log.kept, log.open()]).toEqual([0, null]);
    write('local-1.inprogress', 'event\n');
    expect([log.kept, log.isCut]).toEqual([6, false]);
    renameSync(join(folder, 'local-1.inprogress'), join(folder, 'local-1'));
    expect(log.kept).toBe(6);
    write('local-1', 'x'.repeat(101));
    expect([log.kept, log.isCut, log.ending().length]).toEqual([100, true, 0]);
  });

  it('stays when the folder of the job is removed', () => {
    write('local-1', 'event\n');
    const log = open();
    log.archive();
    rmSync(folder, { recursive: true });
    expect(log.kept).toBe(6);
    log.archive();
    expect(readFileSync(join(dir, 'events'), 'utf8')).toBe('event\n');
    // An agent that starts again.
    expect(open().kept).toBe(6);
  });

  it('names no application before there is one', () => {
    write('local-1', 'event\n');
    application = null;
    expect(open().kept).toBe(0);
  });

  it.each([
    ['a link to a file', () => symlinkSync('/etc/passwd', join(folder, 'local-1'))],
    ['a pipe', () => execFileSync('mkfifo', [join(folder, 'local-1')])],
    ['a folder', () => mkdirSync(join(folder, 'local-1'))],
    [
      'a link to a folder',
      () => {
        renameSync(folder, join(dir, 'elsewhere'));
        writeFileSync(join(dir, 'elsewhere', 'local-1'), 'of another job\n');
        symlinkSync(join(dir, 'elsewhere'), folder);
      },
    ],
    ['a pipe for the folder', () => (rmSync(folder, { recursive: true }), execFileSync('mkfifo', [folder]))],
    ['nothing', () => rmSync(folder, { recursive: true })],
  ])('is not read if a job puts %s in its place', (_what, trap) => {
    trap();
    const log = open();
    expect([log.findApplication() === null || log.findApplication() === 'local-1', log.kept]).toEqual([true, 0]);
    log.archive();
    expect(existsSync(join(dir, 'events'))).toBe(false);
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  asRoot('is of the user of the job only, and the agent is its owner at the end', () => {
    write('local-1', 'of another job\n');
    uid = 1_900_020_000;
    const log = open();
    expect(log.kept).toBe(0);
    chownSync(join(folder, 'local-1'), uid, uid);
    expect(log.kept).toBe(15);
    log.archive();
    const fd = log.open();
    expect(fd === null ? null : fstatSync(fd).uid).toBe(0);
    if (fd !== null) closeSync(fd);
  });
});
