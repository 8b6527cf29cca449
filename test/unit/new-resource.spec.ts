import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '..', '..');

/** The templates of `npm run new:resource` must compile in this project, so that they follow the code that they use. */
describe('A new resource', () => {
  let folder: string;
  /** The folder of a domain, relative to the root. */
  let domain: string;
  let modules: { own: string; api: string };

  beforeAll(() => {
    const found = readdirSync(join(ROOT, 'src', 'modules'), { recursive: true, encoding: 'utf8' })
      .map((path) => join('src', 'modules', path))
      .filter((path) => path.endsWith('.api.module.ts'))
      .map((api) => ({ api, own: api.replace('.api.', '.') }));
    modules = found.find(({ own }) => existsSync(join(ROOT, own)))!;
    domain = dirname(modules.own);
    folder = mkdtempSync(join(tmpdir(), 'new-resource-'));
    mkdirSync(join(folder, 'src'));
    mkdirSync(join(folder, 'test', 'samples'), { recursive: true });
    const beside = readdirSync(join(ROOT, 'src')).filter((name) => name !== 'modules');
    for (const path of ['node_modules', 'libs', 'test/samples/sample.ts', ...beside.map((name) => `src/${name}`)]) {
      symlinkSync(join(ROOT, path), join(folder, path));
    }
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (...given: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'scripts', 'new-resource.mjs'), ...given, `--into=${folder}`], {
      encoding: 'utf8',
    });
  const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');

  it('has files that compile, and prints the remaining steps', () => {
    const { status, stdout, stderr } = run('git-policies', `--folder=${domain}`);
    expect([status, stderr]).toEqual([0, '']);
    const [list = '', left = ''] = stdout.split('\n\n');
    const files = list.split('\n');
    expect(files).toEqual([
      `${domain}/git-policies/entities/git-policy.entity.ts`,
      `${domain}/git-policies/dto/git-policy.dto.ts`,
      `${domain}/git-policies/git-policies.repository.ts`,
      `${domain}/git-policies/git-policies.service.ts`,
      `${domain}/git-policies/git-policies.controller.ts`,
      'test/samples/git-policy.ts',
    ]);
    expect(problemsOf(files.map((file) => join(folder, file)))).toEqual([]);
    expect(textOf('test/samples/git-policy.ts')).toContain(`table: 'git_policies'`);
    for (const named of [modules.own, modules.api, './git-policies/git-policies.service', 'listGitPolicies:']) {
      expect(left).toContain(named);
    }
  });

  it('never overwrites a file', () => {
    const file = 'test/samples/git-policy.ts';
    const before = textOf(file);
    rmSync(join(folder, domain), { recursive: true });
    const { status, stdout, stderr } = run('git-policies', `--folder=${domain}`);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(file);
    expect(existsSync(join(folder, domain))).toBe(false);
    expect(textOf(file)).toBe(before);
  });

  it.each([[[]], [['git-policies']], [['GitPolicies', '--folder=src/modules']], [['git-policies', '--folder=src']]])(
    'is not created from the arguments %j',
    (given: string[]) => {
      const { status, stderr } = run(...given);
      expect(status).toBe(2);
      expect(stderr).toContain('Usage');
    },
  );
});

function problemsOf(files: string[]): string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const alone = { rootDir: undefined, incremental: false, noEmit: true, types: [] };
  const program = ts.createProgram(files, { ...options, ...alone });
  return files.flatMap((file) => {
    const source = program.getSourceFile(file)!;
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
  });
}
