import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ocid } from '../fakes/clouds/fake-oci';
import { newRsaPair } from '../harness/rsa-pair';
import { FakeProxmox } from '../fakes/clouds/fake-proxmox';
import { type LoopbackServer, serveOnLoopback } from '../fakes/http/loopback-server';
import { EnvironmentsApiModule } from '../../src/modules/infrastructure/environments/environments.api.module';
import type { Role } from '../../src/platform/kernel/auth/roles';
import { encodedCredentials } from '../samples/sample';
import { type Caller, People, refusal } from './harness/people';
import { apiOf } from './harness/test-api';

const TYPE = { basicAuth: 3, ociApiKey: 4, customS3: 5 };
const SECRET = 'the secret of the store';
const OCI_KEY = {
  OCI_TENANCY_OCID: ocid('tenancy'),
  OCI_USER_OCID: ocid('user'),
  OCI_FINGERPRINT: '00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff',
  OCI_COMPARTMENT_OCID: ocid('compartment'),
};

describe('checkCredentialsConf', () => {
  const api = apiOf([IamModule, EnvironmentsApiModule]);
  const people = new People(api);
  let own: string;
  let admin: Caller;
  let store: LoopbackServer;
  /** The store's response to requests signed with the right key. */
  let answerRight: (response: ServerResponse) => void;

  beforeAll(async () => {
    store = await serveOnLoopback(answerAsStore);
    own = await people.tenant();
    admin = await people.admin(own);
  });

  beforeEach(() => {
    answerRight = (response) =>
      response
        .writeHead(200, { 'Content-Type': 'application/xml' })
        .end(
          '<ListAllMyBucketsResult><Owner><ID>1</ID><DisplayName>spark</DisplayName></Owner></ListAllMyBucketsResult>',
        );
  });

  afterAll(() => store?.stop());

  function answerAsStore(request: IncomingMessage, response: ServerResponse): void {
    if (request.headers.authorization?.includes('Credential=right/')) return answerRight(response);
    const error = '<Error><Code>InvalidAccessKeyId</Code><Message>No such key.</Message></Error>';
    response.writeHead(403, { 'Content-Type': 'application/xml' }).end(error);
  }

  async function credentials(typeId: number, values: object, by = admin): Promise<{ id: number; name: string }> {
    const name = people.unique('credentials');
    const body = { name, credential_type_id: typeId, base64_encoded_credentials: encodedCredentials(values) };
    const made = await by.call('POST', '/credential_config', body);
    expect(made.status).toBe(200);
    return { id: Number(made.body.credentials_conf_id), name };
  }

  const keysOf = (key: string, endpoint = store.url) => ({
    AWS_ACCESS_KEY_ID: key,
    AWS_SECRET_ACCESS_KEY: SECRET,
    S3_ENDPOINT: endpoint,
  });

  const check = (query: string, by = admin) => by.call('POST', `/credential_config/check?${query}`);

  it('reports whether the provider accepts the credentials, by id and by name', async () => {
    const right = await credentials(TYPE.customS3, keysOf('right'));
    const works = { working: true, checked_as: 'spark', reason: null };
    expect(await check(`credentials_conf_id=${right.id}`)).toMatchObject({ status: 200, body: works });
    expect((await check(`credentials_conf_name=${right.name}`)).body).toEqual(works);
    const wrong = await credentials(TYPE.customS3, keysOf('wrong'));
    const refused = { working: false, checked_as: null, reason: 'InvalidAccessKeyId: No such key.' };
    expect(await check(`credentials_conf_id=${wrong.id}`)).toMatchObject({ status: 200, body: refused });
  });

  it('checks what an update stored', async () => {
    const { id } = await credentials(TYPE.customS3, keysOf('wrong'));
    const change = { base64_encoded_credentials: encodedCredentials(keysOf('right')) };
    expect((await admin.call('PUT', `/credential_config?credentials_conf_id=${id}`, change)).status).toBe(201);
    expect((await check(`credentials_conf_id=${id}`)).body.working).toBe(true);
  });

  it.each<[Role, number]>([
    ['USER', 403],
    ['CAN MANAGE CLUSTER', 403],
    ['ADMIN', 200],
    ['PLATFORM ADMIN', 200],
  ])('is for administrators: %s gets %i', async (role, status) => {
    const { id } = await credentials(TYPE.customS3, keysOf('right'));
    const held = role === 'PLATFORM ADMIN' ? null : own;
    const caller = await people.as(await people.user([[role, held]]), own);
    expect((await check(`credentials_conf_id=${id}`, caller)).status).toBe(status);
  });

  it('calls no provider with credentials of another tenant or deleted ones', async () => {
    const { id, name } = await credentials(TYPE.customS3, keysOf('right'));
    const called = jest.fn();
    answerRight = called;
    const stranger = await people.admin(await people.tenant());
    for (const query of [`credentials_conf_id=${id}`, `credentials_conf_name=${name}`]) {
      expect(refusal(await check(query, stranger))).toEqual([404, 'CREDENTIALS_CONF.NOT_FOUND']);
    }
    await admin.call('DELETE', `/credential_config?credentials_conf_id=${id}`);
    expect(refusal(await check(`credentials_conf_id=${id}`))).toEqual([404, 'CREDENTIALS_CONF.NOT_FOUND']);
    expect(called).not.toHaveBeenCalled();
  });

  it('reports a provider that does not answer, instead of invalid credentials', async () => {
    const { id } = await credentials(TYPE.customS3, keysOf('right'));
    answerRight = (response) => void response.writeHead(500).end();
    const answer = await check(`credentials_conf_id=${id}`);
    expect(refusal(answer)).toEqual([500, 'CREDENTIALS_CONF.PROVIDER_UNREACHABLE']);
    expect(answer.body.details.server).toBe(new URL(store.url).host);
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
  });

  it('needs a selector, and an endpoint if the credentials name none', async () => {
    expect(refusal(await check(''))).toEqual([400, 'REQUEST.SELECTOR_MISSING']);
    const s3 = await credentials(TYPE.customS3, keysOf('right'));
    const unexpected = await check(`credentials_conf_id=${s3.id}&endpoint=https://pve.example.org`);
    expect(refusal(unexpected)).toEqual([400, 'CREDENTIALS_CONF.ENDPOINT_UNEXPECTED']);
    const basic = await credentials(TYPE.basicAuth, { USERNAME: 'root@pam', PASSWORD: SECRET });
    const query = `credentials_conf_id=${basic.id}`;
    expect(refusal(await check(query))).toEqual([400, 'CREDENTIALS_CONF.ENDPOINT_REQUIRED']);
    for (const endpoint of ['http://169.254.169.254/latest', 'file:///etc/passwd', 'https://root:pw@pve.example.org']) {
      const refused = await check(`${query}&endpoint=${encodeURIComponent(endpoint)}`);
      expect(refusal(refused)).toEqual([400, 'CREDENTIALS_CONF.ENDPOINT_REFUSED']);
    }
  });

  it('needs a region for a key of Oracle Cloud only, and never a resource group', async () => {
    const { id } = await credentials(TYPE.ociApiKey, { ...OCI_KEY, OCI_PRIVATE_KEY: newRsaPair().privateKey });
    const query = `credentials_conf_id=${id}`;
    expect(refusal(await check(query))).toEqual([400, 'CREDENTIALS_CONF.CHECK_UNSUPPORTED']);
    const elsewhere = await check(`${query}&region=${encodeURIComponent('evil.example/#')}`);
    expect(elsewhere.body).toMatchObject({ working: false, checked_as: null });
    const s3 = await credentials(TYPE.customS3, keysOf('right'));
    const unexpected = await check(`credentials_conf_id=${s3.id}&region=eu-frankfurt-1`);
    expect(refusal(unexpected)).toEqual([400, 'CREDENTIALS_CONF.REGION_UNEXPECTED']);
    const project = await check(`credentials_conf_id=${s3.id}&cloud_project=nodes`);
    expect(refusal(project)).toEqual([400, 'CREDENTIALS_CONF.CLOUD_PROJECT_UNEXPECTED']);
  });

  it('calls the hypervisor that the request names', async () => {
    const hypervisor = await FakeProxmox.start({ users: [{ name: 'root@pam', password: SECRET }] });
    try {
      const { id } = await credentials(TYPE.basicAuth, { USERNAME: 'root@pam', PASSWORD: SECRET });
      const answer = await check(`credentials_conf_id=${id}&endpoint=${encodeURIComponent(hypervisor.url)}`);
      expect(answer.body).toEqual({ working: true, checked_as: 'root@pam', reason: null });
    } finally {
      await hypervisor.stop();
    }
  });

  it('is in the audit log, and changes nothing', async () => {
    const { id } = await credentials(TYPE.customS3, keysOf('right'));
    const row = () => admin.call('GET', `/credential_config?credentials_conf_id=${id}`);
    const before = (await row()).body;
    await check(`credentials_conf_id=${id}`);
    expect((await row()).body).toEqual(before);
    const events = await api.database.query<{ outcome: string; subject: object; user_id: string }[]>(
      `SELECT outcome, subject, user_id FROM audit_events WHERE operation = 'checkCredentialsConf'
       ORDER BY audit_event_id DESC LIMIT 1`,
    );
    expect(events).toMatchObject([{ outcome: 'done', subject: { credentials_conf_id: id }, user_id: admin.userId }]);
  });

  it.each([
    ['an address of the cloud', 'http://169.254.169.254'],
    ['a link-local address', 'http://[fe80::1]:9000'],
    ['an unspecified address', 'http://0.0.0.0:9000'],
    ['a decimal spelling of one', 'http://2852039166/'],
    ['a password in it', 'http://user:pw@s3.example.org'],
  ])('an endpoint with %s is not stored', async (_what, endpoint) => {
    const name = people.unique('credentials');
    const base64_encoded_credentials = encodedCredentials(keysOf('right', endpoint));
    const body = { name, credential_type_id: TYPE.customS3, base64_encoded_credentials };
    const refused = await admin.call('POST', '/credential_config', body);
    expect(refusal(refused)).toEqual([400, 'CREDENTIALS_CONF.ENDPOINT_REFUSED']);
    expect(refused.body.error_message).not.toContain('pw@');
    const { id } = await credentials(TYPE.customS3, keysOf('right'));
    const update = await admin.call('PUT', `/credential_config?credentials_conf_id=${id}`, {
      base64_encoded_credentials,
    });
    expect(refusal(update)).toEqual([400, 'CREDENTIALS_CONF.ENDPOINT_REFUSED']);
    expect((await check(`credentials_conf_id=${id}`)).body.working).toBe(true);
  });
});
