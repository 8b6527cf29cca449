import { bodyOf } from '../../samples';
import { rsaPair } from '../../harness/rsa-pair';
import { encodedCredentials } from '../../samples/sample';
import { makeTenancy, type Tenancy } from './records';
import { setClusterStatus } from './statuses';
import type { ClusterStatus } from '../../../src/modules/execution/clusters/model/cluster-state';
import { configure, createTestDatabase, prepare, TestApi, type TestAnswer, type TestDatabase } from './test-api';

/** Ids of the lookup tables. */
export const STORAGE = { gcs: 0, s3: 1, adls: 2, custom: 3 };
const CREDENTIAL_TYPE = { gcs: 0, s3: 1, adls: 2, basic: 3, custom: 5 };

type CredentialKind = keyof typeof CREDENTIAL_TYPE;
export const ENCRYPTION = { sseS3: 0, sseKms: 1, sseC: 2, google: 3 };

const S3_KEYS = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'hunter2' };
/** Values of credentials by kind of store; `hunter2` is in every secret. */
export const CREDENTIAL_VALUES: Record<CredentialKind, Record<string, string>> = {
  s3: { ...S3_KEYS, AWS_DEFAULT_REGION: 'eu-central-1' },
  custom: { ...S3_KEYS, S3_ENDPOINT: 'http://127.0.0.1:9000' },
  basic: { USERNAME: 'a', PASSWORD: 'b' },
  adls: {
    CLIENT_ID: 'id',
    TENANT_ID: 'tenant',
    CLIENT_SECRET: 'hunter2',
    SUBSCRIPTION_ID: 'subscription',
    STORAGE_ACCOUNT_NAME: 'account1',
    CONTAINER_NAME: 'files',
  },
  gcs: {
    TYPE: 'service_account',
    PROJECT_ID: 'project',
    PRIVATE_KEY_ID: 'id',
    PRIVATE_KEY: rsaPair().privateKey,
    CLIENT_EMAIL: 'a@b.example',
    CLIENT_ID: 'id',
    AUTH_URI: 'https://a.example',
    TOKEN_URI: 'https://a.example',
    AUTH_PROVIDER_X509_CERT_URL: 'https://a.example',
    CLIENT_X509_CERT_URL: 'https://a.example',
  },
};

/** The whole API with two tenants, the first of which is selected, and the records that mounts need. */
export class MountsBench {
  private made = 0;

  private constructor(
    readonly api: TestApi,
    private readonly database: TestDatabase,
    private readonly token: string,
    readonly mine: Tenancy,
    readonly foreign: Tenancy,
  ) {}

  static async start(): Promise<MountsBench> {
    const database = await createTestDatabase();
    const config = configure(database.url);
    await prepare(config);
    const api = await TestApi.startWhole(config);
    const mine = await makeTenancy(api.database.manager, 'mine');
    const foreign = await makeTenancy(api.database.manager, 'foreign');
    await api.database.query(`UPDATE cloud_envs SET endpoint = 'local://'`);
    const bench = new MountsBench(api, database, await api.login(), mine, foreign);
    expect((await bench.call('POST', `/user/select/${mine.tenantId}`)).status).toBe(201);
    return bench;
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.database.drop();
  }

  call(method: string, path: string, body?: unknown): Promise<TestAnswer> {
    return this.api.call(method, path, { token: this.token, body });
  }

  async credentials(kind: CredentialKind): Promise<number> {
    this.made += 1;
    const { status, body } = await this.call('POST', '/credential_config', {
      name: `credentials-${this.made}`,
      credential_type_id: CREDENTIAL_TYPE[kind],
      base64_encoded_credentials: encodedCredentials(CREDENTIAL_VALUES[kind]),
    });
    expect([status, body.error]).toEqual([200, undefined]);
    return Number(body.credentials_conf_id);
  }

  /** Body of a mount of Custom S3 with a name, a bucket and a mount point of its own. */
  async mountBody(more: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    this.made += 1;
    const credentials = more['credentials_config_id'] ?? (await this.credentials('custom'));
    return {
      name: `Mount ${this.made}`,
      ...bodyOf('mount', { credentials_conf_id: Number(credentials) }),
      source: `s3a://bucket-${this.made}/path`,
      mount_point: `/mnt/m${this.made}`,
      ...more,
    };
  }

  async post(more: Record<string, unknown> = {}): Promise<TestAnswer> {
    return this.call('POST', '/cluster/mount', await this.mountBody(more));
  }

  async makeMount(more: Record<string, unknown> = {}): Promise<number> {
    const { status, body } = await this.post(more);
    expect([status, body.error]).toEqual([200, undefined]);
    return Number(body.mount_id);
  }

  clusterBody(mountIds?: unknown): { name: string } & Record<string, unknown> {
    this.made += 1;
    const ids = { cloud_env_id: this.mine.cloudEnvId, cluster_conf_id: this.mine.clusterConfId };
    return {
      name: `cluster-${this.made}`,
      ...bodyOf('cluster', ids),
      ...(mountIds === undefined ? {} : { mount_ids: mountIds }),
    };
  }

  async makeCluster(mountIds: number[], status: ClusterStatus = 'STOPPED'): Promise<number> {
    const { status: answered, body } = await this.call('POST', '/cluster', this.clusterBody(mountIds));
    expect([answered, body.mount_ids]).toEqual([200, mountIds.map(String)]);
    await this.setStatus(Number(body.cluster_id), status);
    return Number(body.cluster_id);
  }

  async setStatus(clusterId: number, status: ClusterStatus): Promise<void> {
    await setClusterStatus(this.api.database.manager, clusterId, status);
  }
}

/** No refusal may repeat a secret. */
export function expectRefusal({ status, body }: TestAnswer, expected: number, code: string, message = /./): void {
  expect([status, body.error_code]).toEqual([expected, code]);
  expect(body.error_message).toMatch(message);
  expect(JSON.stringify(body)).not.toContain('hunter2');
}
