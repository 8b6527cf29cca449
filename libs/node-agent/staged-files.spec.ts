import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunFile, RunSpec } from '../contracts/agent-protocol';
import { SubmitError } from '../spark/submit-error';
import { plainRunSpec } from '../../test/harness/run-spec';
import { ResponseError } from './control-plane';
import { type FetchFile, StagedFiles } from './staged-files';

const fetched = (index: number, name: string): RunFile => ({ kind: 'fetched', index, name, uri: null });
/** An empty zip file. */
const ZIP = Buffer.concat([Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)]);

describe('StagedFiles', () => {
  let folder: string;
  let content: Buffer;
  let requested: string[];
  let answer: FetchFile;
  let staged: StagedFiles;
  const spec = (change: Partial<RunSpec>) => plainRunSpec({ application: fetched(0, 'dir/main.py'), ...change });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'staged-'));
    [content, requested] = [ZIP, []];
    answer = async (_file, target) => writeFileSync(target, content);
    staged = new StagedFiles(folder, (file, target, stopped) => {
      requested.push(file.name);
      return answer(file, target, stopped);
    });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('fetches all files that the run names, each into its own folder and under its name', async () => {
    const change: Partial<RunSpec> = {
      files: [fetched(1, 'a/x.csv'), { ...fetched(9, 'y'), kind: 'uri', uri: 's3a://b/y' }],
      jars: [fetched(2, '..')],
      properties_files: [fetched(3, 'p')],
      keytab_file: fetched(4, 'k.keytab'),
    };
    expect(await staged.fetch(spec(change))).toBeNull();
    expect(requested.sort()).toEqual(['..', 'a/x.csv', 'dir/main.py', 'k.keytab', 'p']);
    expect(readFileSync(`${folder}/1/x.csv`)).toEqual(ZIP);
    expect([fetched(2, '..'), fetched(1, 'a/x.csv')].map((file) => staged.locate(file))).toEqual([
      `${folder}/2/file`,
      `${folder}/1/x.csv`,
    ]);
    expect(staged.locate({ ...fetched(9, 'y'), kind: 'uri', uri: 's3a://b/y' })).toBe('s3a://b/y');
    expect(() => staged.locate({ ...fetched(9, 'y'), kind: 'uri' })).toThrow(SubmitError);
  });

  it("replaces characters in the names of libraries that Spark's lists do not allow", async () => {
    const [jar, module, file] = [fetched(1, 'a,b[1].jar'), fetched(2, 'a#b.py'), fetched(3, 'sales, 2024.csv')];
    content = ZIP;
    expect(await staged.fetch(spec({ jars: [jar], py_files: [module], files: [file] }))).toBeNull();
    expect([staged.locate(jar, true), staged.locate(module, true), staged.locate(file)]).toEqual([
      `${folder}/1/a_b_1_.jar`,
      `${folder}/2/a_b.py`,
      `${folder}/3/sales, 2024.csv`,
    ]);
    for (const path of ['1/a_b_1_.jar', '2/a_b.py', '3/sales, 2024.csv'])
      expect(existsSync(`${folder}/${path}`)).toBe(true);
    content = Buffer.from('text');
    expect(await staged.fetch(spec({ jars: [jar] }))).toMatchObject({ message: expect.stringContaining('a,b[1].jar') });
  });

  it('retries temporary failures, and not permanent ones', async () => {
    const answers = [new Error('reset'), new ResponseError(503, 'busy')];
    answer = async (_file, target) => {
      const error = answers.shift();
      if (error) throw error;
      writeFileSync(target, content);
    };
    expect(await staged.fetch(spec({}))).toBeNull();
    expect(requested).toHaveLength(3);
    answer = () => Promise.reject(new ResponseError(404, 'There is no file.'));
    expect(await staged.fetch(spec({}))).toEqual({
      reason: 'FILE_NOT_FOUND',
      outcome: 'error',
      message: 'There is no file.',
    });
    answer = () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
    expect(await staged.fetch(spec({}))).toMatchObject({
      reason: 'STAGING_FAILED',
      message: 'dir/main.py was not fetched: no space left',
    });
  });

  it('stops when it is aborted', async () => {
    answer = () => Promise.reject(new Error('reset'));
    const fetching = staged.fetch(spec({}));
    setTimeout(() => staged.abort(), 50);
    expect(await fetching).toMatchObject({
      reason: 'STAGING_FAILED',
      message: expect.stringContaining('in time: reset'),
    });
  });

  it.each([
    ['text', Buffer.from('text'), 'NOT_AN_ARCHIVE'],
    ['the beginning of a zip file', Buffer.from('PK\x03\x04 and more', 'latin1'), 'NOT_AN_ARCHIVE'],
    ['nothing', Buffer.alloc(0), 'NOT_AN_ARCHIVE'],
    ['a zip file with a long comment', Buffer.concat([ZIP, Buffer.alloc(65_535)]), undefined],
  ])('accepts a jar unless it is %s', async (_what, bytes, reason) => {
    content = bytes;
    const jar = fetched(1, 'lib/app.jar');
    expect((await staged.fetch(spec({ kind: 'jar', application: jar })))?.reason).toBe(reason);
    expect((await staged.fetch(spec({ jars: [jar] })))?.reason).toBe(reason);
    if (reason)
      expect((await staged.fetch(spec({ jars: [jar] })))?.message).toMatch(/^lib\/app\.jar is not a jar file/);
    expect(await staged.fetch(spec({ archives: [jar] }))).toBeNull();
  });
});
