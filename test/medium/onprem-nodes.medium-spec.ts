import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeNode, FakeProxmox, type FakeProxmoxOptions } from '../fakes/clouds/fake-proxmox';
import { selfSigned } from '../fakes/http/self-signed';
import { Config } from '../../src/config/config';
import { EnvironmentsApiModule } from '../../src/modules/infrastructure/environments/environments.api.module';
import { IamApiModule } from '../../src/modules/foundation/iam/iam.api.module';
import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import type { LocalConfinementService } from '../../src/modules/infrastructure/environments/cloud-environments/local-confinement.service';
import { LocalHostsRepository } from '../../src/modules/infrastructure/environments/cloud-environments/local-hosts.repository';
import type { LocalFolderService } from '../../src/modules/infrastructure/environments/cloud-environments/local-folder.service';
import { LocalHostReporter } from '../../src/modules/infrastructure/environments/cloud-environments/background/local-host-reporter';
import { CREDENTIAL_TYPE_ID } from '../../src/modules/foundation/reference-data/reference-data';
import type { Role } from '../../src/platform/kernel/auth/roles';
import { createLogger } from '../../src/platform/kernel/logging/logger';
import { encodedCredentials } from '../samples/sample';
import { type Caller, People, refusal } from './harness/people';
import { insertPlain } from './harness/records';
import {
  configure,
  createTestDatabase,
  LOCAL_NODES,
  prepare,
  soon,
  type TestAnswer,
  TestApi,
  type TestDatabase,
} from './harness/test-api';

const GIB = 2 ** 30;
const PATH = '/cluster/cloud/environment/onprem/nodes';
const ROOT = { name: 'root@pam', password: 'the password of root' };
const TOKEN = { id: 'root@pam!platform', secret: 'the-secret-of-the-token' };
const nodeOf = (node: string, status: FakeNode['status']): FakeNode => ({
  ...{ node, status, cpu: 0.123456, maxcpu: 16, mem: 8.126 * GIB, maxmem: 64 * GIB },
  ...{ disk: 10 * GIB, maxdisk: 100.5 * GIB },
});
const PVE1 = {
  ...{ node_name: 'pve1', cpu_cores: 16, cpu_usage_percent: 12.35, ram_total_gb: 64, ram_used_gb: 8.13 },
  ...{ disk_total_gb: 100.5, disk_used_gb: 10 },
};

// Real: PostgreSQL and the API over HTTP. Proxmox VE is a stand-in (test/fakes/clouds/fake-proxmox.ts).
describe('listOnPremNodeResources', () => {
  const identity = selfSigned();
  const hypervisors: FakeProxmox[] = [];
  let folder: string;
  let database: TestDatabase;
  let api: TestApi;
  let people: People;
  let tenant: string;
  let admin: Caller;
  let basicAuth: number;

  const startApi = (more: Record<string, string> = {}) => {
    configure(database.url, {
      ...LOCAL_NODES,
      COMPUTE_LOCAL_DIR: join(folder, 'nodes'),
      SECRETS_MASTER_KEYS: `master:${Buffer.alloc(32, 7).toString('base64')}`,
      ...more,
    });
    return TestApi.start([IamModule, IamApiModule, EnvironmentsApiModule]);
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'onprem-'));
    const caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, identity.cert);
    database = await createTestDatabase();
    await prepare(configure(database.url));
    api = await startApi({ ONPREM_CA_FILE: caFile });
    people = new People(api);
    tenant = await people.tenant();
    admin = await people.admin(tenant);
    basicAuth = await credentials(admin, { USERNAME: ROOT.name, PASSWORD: ROOT.password });
  });

  afterEach(async () => {
    for (const hypervisor of hypervisors.splice(0)) await hypervisor.stop();
  });

  afterAll(async () => {
    await api?.stop();
    await database?.drop();
    rmSync(folder, { recursive: true });
  });

  const startHypervisor = async (options: FakeProxmoxOptions = {}) => {
    const nodes = [nodeOf('pve1', 'online'), nodeOf('pve2', 'offline')];
    const started = await FakeProxmox.start({ users: [ROOT], tokens: [TOKEN], nodes, ...options });
    hypervisors.push(started);
    return started;
  };
  const credentials = async (caller: Caller, content: object, type: number = CREDENTIAL_TYPE_ID.onPremBasicAuth) => {
    const { status, body } = await caller.call('POST', '/credential_config', {
      name: people.unique('credentials'),
      credential_type_id: type,
      base64_encoded_credentials: encodedCredentials(content),
    });
    expect([status, body]).toEqual([200, expect.anything()]);
    return Number(body.credentials_conf_id);
  };
  const ask = (caller: Caller, endpoint: string, credentialsConfId = basicAuth): Promise<TestAnswer> =>
    caller.call('GET', `${PATH}?endpoint=${encodeURIComponent(endpoint)}&credential_config_id=${credentialsConfId}`);
  const withRole = async (role: Role) => {
    const isPlatform = role.startsWith('PLATFORM');
    return people.as(await people.user([[role, isPlatform ? null : tenant]]), tenant);
  };

  it('lists the nodes that are online, with a password and with an API token', async () => {
    const { url } = await startHypervisor();
    expect(await ask(admin, url)).toMatchObject({ status: 200, body: { nodes: [PVE1] } });
    const token = await credentials(admin, { USERNAME: TOKEN.id, PASSWORD: TOKEN.secret });
    expect(await ask(admin, url, token)).toMatchObject({ status: 200, body: { nodes: [PVE1] } });
  });

  it('sends the password of administrators to any endpoint, and of others only to endpoints of an environment', async () => {
    const hypervisor = await startHypervisor();
    const user = await withRole('USER');
    expect(refusal(await ask(user, hypervisor.url))).toEqual([400, 'ONPREM.ENDPOINT_NOT_IN_USE']);
    expect(hypervisor.calls).toEqual([]);
    const provider = { tenant_id: tenant, cloud_provider_id: 3 };
    const { network_conf_id } = await insertPlain(api.database.manager, 'network_confs', { ...provider, name: 'net' });
    const { boot_disk_image_id } = await insertPlain(api.database.manager, 'boot_disk_images', {
      ...{ ...provider, name: 'image', linux_distro_id: 1, architecture_type_id: 0 },
    });
    const made = await admin.call('POST', '/cluster/cloud/environment', {
      ...{ name: 'pve', cloud_provider_id: 3, credential_config_id: basicAuth, endpoint: `${hypervisor.url}/` },
      ...{ network_conf_id, boot_disk_image_id },
    });
    expect(made.status).toBe(200);
    for (const role of ['USER', 'CAN MANAGE CLUSTER', 'ADMIN', 'PLATFORM ADMIN'] as const) {
      expect(await ask(await withRole(role), hypervisor.url)).toMatchObject({ status: 200, body: { nodes: [PVE1] } });
    }
    await api.database.query('UPDATE cloud_envs SET to_date = now() WHERE cloud_env_id = $1', [made.body.cloud_env_id]);
    expect(refusal(await ask(user, hypervisor.url))).toEqual([400, 'ONPREM.ENDPOINT_NOT_IN_USE']);
  });

  it('is for members of the tenant', async () => {
    expect(refusal(await ask(await withRole('PLATFORM BILLING'), 'local://'))).toEqual([403, expect.any(String)]);
    expect((await api.call('GET', PATH)).status).toBe(401);
  });

  it("uses no other tenant's credentials, and none of another kind", async () => {
    const hypervisor = await startHypervisor();
    const stranger = await people.admin(await people.tenant());
    for (const endpoint of [hypervisor.url, 'local://']) {
      expect(refusal(await ask(stranger, endpoint))).toEqual([404, 'CREDENTIALS_CONF.NOT_FOUND']);
    }
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
    const s3 = { ...keys, S3_ENDPOINT: 'https://s3.example.org' };
    const ofS3 = await credentials(admin, s3, CREDENTIAL_TYPE_ID.customS3);
    const aws = { ...keys, AWS_DEFAULT_REGION: 'eu-central-1' };
    const ofAws = await credentials(admin, aws, CREDENTIAL_TYPE_ID.awsAccessSecretKeyPair);
    expect(refusal(await ask(admin, hypervisor.url, ofS3))).toEqual([400, 'CLOUD_ENV.CREDENTIAL_TYPE']);
    expect(refusal(await ask(admin, hypervisor.url, ofAws))).toEqual([400, 'CLOUD_ENV.PROVIDER_MISMATCH']);
    expect(hypervisor.calls).toEqual([]);
  });

  it.each(['', `?endpoint=local://`, '?credential_config_id=1', '?endpoint=local://&credential_config_id=one'])(
    'wants endpoint and credentials (%s)',
    async (query) => {
      expect((await admin.call('GET', PATH + query)).status).toBe(400);
    },
  );

  it('returns the objection of the hypervisor, and no secret', async () => {
    const hypervisor = await startHypervisor();
    const wrong = await credentials(admin, { USERNAME: ROOT.name, PASSWORD: 'wrong password' });
    const refused = await ask(admin, hypervisor.url, wrong);
    expect(refusal(refused)).toEqual([400, 'ONPREM.CREDENTIALS_REFUSED']);
    expect(refused.body.error_message).toContain('401 authentication failure');
    expect(JSON.stringify(refused.body)).not.toContain('wrong password');
    hypervisor.answerWith((_request, response) => response.writeHead(302, { Location: '/elsewhere' }).end());
    expect(refusal(await ask(admin, hypervisor.url))).toEqual([400, 'ONPREM.NOT_PROXMOX']);
    await hypervisor.stop();
    const silent = await ask(admin, hypervisor.url);
    expect(refusal(silent)).toEqual([500, 'ONPREM.UNAVAILABLE']);
  });

  it('trusts the configured authorities, and skips the check only for the named hosts', async () => {
    const trusted = await startHypervisor({ identity });
    const own = await startHypervisor({ identity: selfSigned() });
    expect((await ask(admin, trusted.url)).body).toEqual({ nodes: [PVE1] });
    expect(refusal(await ask(admin, own.url))).toEqual([400, 'ONPREM.CERTIFICATE_REFUSED']);
    const lenient = await startApi({ ONPREM_CA_FILE: '', ONPREM_TLS_UNVERIFIED: new URL(own.url).host });
    try {
      const { token } = admin;
      const of = ({ url }: FakeProxmox) => `${PATH}?endpoint=${url}&credential_config_id=${basicAuth}`;
      expect((await lenient.call('GET', of(own), { token })).body).toEqual({ nodes: [PVE1] });
      expect((await lenient.call('GET', of(trusted), { token })).body.error_code).toBe('ONPREM.CERTIFICATE_REFUSED');
    } finally {
      await lenient.stop();
    }
  });

  describe('for an endpoint that the outbound policy refuses', () => {
    it.each([
      ['http://169.254.169.254', 'CLOUD_ENV.ENDPOINT_REFUSED'],
      ['https://[fe80::1]:8006', 'CLOUD_ENV.ENDPOINT_REFUSED'],
      ['https://root:secret@pve.example.org', 'CLOUD_ENV.ENDPOINT_INVALID'],
      ['ftp://pve.example.org', 'CLOUD_ENV.ENDPOINT_INVALID'],
    ])('%s calls no server', async (endpoint, code) => {
      expect(refusal(await ask(admin, endpoint))).toEqual([400, code]);
    });

    it('creates and changes no environment', async () => {
      const provider = { tenant_id: tenant, cloud_provider_id: 3 };
      const { manager } = api.database;
      const { network_conf_id } = await insertPlain(manager, 'network_confs', { ...provider, name: 'net2' });
      const { boot_disk_image_id } = await insertPlain(manager, 'boot_disk_images', {
        ...{ ...provider, name: 'image2', linux_distro_id: 1, architecture_type_id: 0 },
      });
      const env = { name: 'env', cloud_provider_id: 3, credential_config_id: basicAuth };
      const create = (endpoint: string) =>
        admin.call('POST', '/cluster/cloud/environment', { ...env, endpoint, network_conf_id, boot_disk_image_id });
      const stored = () => api.database.query(`SELECT endpoint FROM cloud_envs WHERE name = 'env'`);
      expect(refusal(await create('http://169.254.169.254'))).toEqual([400, 'CLOUD_ENV.ENDPOINT_REFUSED']);
      expect(await stored()).toEqual([]);
      const { cloud_env_id } = (await create('https://pve.example.org:8006')).body;
      const changed = await admin.call('PUT', `/cluster/cloud/environment?cloud_env_id=${cloud_env_id}`, {
        endpoint: 'https://169.254.169.254',
      });
      expect(refusal(changed)).toEqual([400, 'CLOUD_ENV.ENDPOINT_REFUSED']);
      expect(await stored()).toEqual([{ endpoint: 'https://pve.example.org:8006' }]);
    });
  });

  describe('for local://', () => {
    const report = (name: string, age: string) =>
      api.database.query(`INSERT INTO local_hosts VALUES ($1, 4, 0.5, $2, $3, $4, $5, now() - $6::interval)`, [
        name,
        16 * GIB,
        4 * GIB,
        200 * GIB,
        50 * GIB,
        age,
      ]);

    afterEach(() => api.database.query('DELETE FROM local_hosts'));

    it.each(['USER', 'CAN MANAGE CLUSTER', 'ADMIN', 'PLATFORM ADMIN'] as const)(
      'lists for %s the machines that have reported recently',
      async (role) => {
        await report('b', '29 seconds');
        await report('a', '1 second');
        await report('silent', '31 seconds');
        const { status, body } = await ask(await withRole(role), 'local://');
        const figures = { cpu_cores: 4, cpu_usage_percent: 50, ram_total_gb: 16, ram_used_gb: 4 };
        const disk = { disk_total_gb: 200, disk_used_gb: 50 };
        expect([status, body]).toEqual([
          200,
          { nodes: ['a', 'b'].map((node_name) => ({ node_name, ...figures, ...disk })) },
        ]);
      },
    );

    it('is refused if no worker with local nodes has reported for minutes and the API has none itself', async () => {
      const other = await startApi({ COMPUTE_LOCAL_ENABLED: 'false' });
      try {
        const path = `${PATH}?endpoint=local://&credential_config_id=${basicAuth}`;
        const { status, body } = await other.call('GET', path, { token: admin.token });
        expect([status, body.error_code]).toEqual([400, 'CLOUD_ENV.LOCAL_DISABLED']);
        // In this deployment, API and worker run on different machines.
        await report('a', '6 minutes');
        expect((await other.call('GET', path, { token: admin.token })).status).toBe(400);
        await report('b', '4 minutes');
        expect((await other.call('GET', path, { token: admin.token })).status).toBe(200);
      } finally {
        await other.stop();
      }
    });

    it('gets no report from a worker that has not taken its folder', async () => {
      configure(database.url, { COMPUTE_LOCAL_ENABLED: 'true' });
      const hosts = new LocalHostsRepository(api.database);
      const reported = jest.spyOn(hosts, 'report');
      const confinement = { isolatesTenants: true } as LocalConfinementService;
      const folder = { problem: 'Another worker has it.' } as LocalFolderService;
      const reporter = new LocalHostReporter(Config.load(), hosts, confinement, folder, createLogger('test', 'silent'));
      await reporter.start();
      await reporter.stop();
      expect(reported).not.toHaveBeenCalled();
    });

    it('gets the report of the worker, which continues after a failure', async () => {
      const logger = createLogger('test', 'silent');
      const warn = jest.spyOn(logger, 'warn');
      configure(database.url, { COMPUTE_LOCAL_ENABLED: 'true', COMPUTE_LOCAL_SPARK_HOMES: '3.5.9=/a,3.5.3=/b' });
      await report('gone', '2 days');
      await api.database.query('ALTER TABLE local_hosts RENAME TO elsewhere');
      const hosts = new LocalHostsRepository(api.database);
      const confinement = { isolatesTenants: true } as LocalConfinementService;
      const folder = { problem: null } as LocalFolderService;
      const reporter = new LocalHostReporter(Config.load(), hosts, confinement, folder, logger);
      await reporter.start();
      try {
        await soon(async () => expect(warn).toHaveBeenCalled());
        await api.database.query('ALTER TABLE elsewhere RENAME TO local_hosts');
        await soon(async () => {
          const { nodes } = (await ask(admin, 'local://')).body;
          expect(nodes).toEqual([expect.objectContaining({ node_name: hostname() })]);
          const [node] = nodes;
          for (const figure of Object.values(node).slice(1)) expect(figure).toBeGreaterThan(0);
          expect(node.ram_used_gb).toBeLessThan(node.ram_total_gb);
          expect(node.disk_used_gb).toBeLessThanOrEqual(node.disk_total_gb);
        });
      } finally {
        await reporter.stop();
      }
      expect(await api.database.query(`SELECT hostname, spark_versions FROM local_hosts`)).toEqual([
        { hostname: hostname(), spark_versions: ['3.5.9', '3.5.3'] },
      ]);
    });
  });
});
