import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { verify } from 'jsonwebtoken';
import { FakeOci, ocid } from '../../test/fakes/clouds/fake-oci';
import { FakeProxmox } from '../../test/fakes/clouds/fake-proxmox';
import { newRsaPair, rsaPair } from '../../test/harness/rsa-pair';
import { AddressRefusedError, OutboundPolicy } from '../outbound-policy/outbound-policy';
import { bodyOf, type LoopbackServer, serveOnLoopback } from '../../test/fakes/http/loopback-server';
import { CheckUnsupportedError, ProviderUnreachableError } from './credential-check';
import { type CheckRequest, CredentialChecker } from './credential-checker';

const { privateKey, publicKey } = rsaPair();

const ACCOUNT = 'spark@project.iam.gserviceaccount.com';
const GOOGLE: CheckRequest = {
  provider: 'gcp',
  credentials: { CLIENT_EMAIL: ACCOUNT, PRIVATE_KEY: privateKey, PRIVATE_KEY_ID: 'key-1' },
};
const AZURE: CheckRequest = {
  provider: 'azure',
  credentials: { TENANT_ID: 'contoso.example', CLIENT_ID: 'app-1', CLIENT_SECRET: 'the secret' },
};
const S3_KEYS = { AWS_ACCESS_KEY_ID: 'key-1', AWS_SECRET_ACCESS_KEY: 'the secret' };

type Listener = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * The fakes follow published descriptions: token endpoints RFC 6749 (4.4, 5) and RFC 7523 (2.1, 3), S3's errors the reference
 * of its API.
 */
describe('CredentialChecker', () => {
  const outbound = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['loopback'] });
  let server: LoopbackServer | undefined;

  afterEach(() => server?.stop());

  /** The timeout is long, because the first check loads an SDK. */
  async function check(request: CheckRequest, listener: Listener, policy = outbound, deadlineMs = 20_000) {
    server = await serveOnLoopback((incoming, response) => void listener(incoming, response));
    const { url } = server;
    const google = { googleToken: `${url}/token`, googleProjects: url };
    const clouds = { awsSts: url, awsEc2: url, ...google, azureAuthority: url, azureManagement: url };
    const s3: Record<string, string> = request.provider === 's3-compatible' ? { S3_ENDPOINT: url } : {};
    const checker = new CredentialChecker(policy, { clouds, deadlineMs });
    return checker.check({ ...request, credentials: { ...s3, ...request.credentials } });
  }

  const answering = (status: number, body: unknown, type = 'application/json') => {
    return (_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(status, { 'Content-Type': type });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
  };

  const granted = { access_token: 'token', token_type: 'Bearer', expires_in: 3599 };

  describe('for a Google service account', () => {
    const google: Listener = async (request, response) => {
      const form = new URLSearchParams(await bodyOf(request));
      try {
        if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') throw new Error('grant');
        verify(form.get('assertion') ?? '', publicKey.export({ type: 'spki', format: 'pem' }), {
          algorithms: ['RS256'],
          issuer: ACCOUNT,
          audience: 'https://oauth2.googleapis.com/token',
          maxAge: '1h',
        });
        answering(200, granted)(request, response);
      } catch {
        answering(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })(request, response);
      }
    };

    it('accepts its key, and no other', async () => {
      expect(await check(GOOGLE, google)).toEqual({ working: true, checkedAs: ACCOUNT, reason: null });
      await server?.stop();
      const other = newRsaPair().privateKey;
      const wrong = { ...GOOGLE, credentials: { ...GOOGLE.credentials, PRIVATE_KEY: other } };
      const refused = { working: false, checkedAs: null, reason: 'invalid_grant: Invalid JWT Signature.' };
      expect(await check(wrong, google)).toEqual(refused);
    });

    describe('with a project', () => {
      const ofProject = { ...GOOGLE, credentials: { ...GOOGLE.credentials, PROJECT_ID: 'own-project' } };
      const rights =
        (status: number, answer: (asked: string[]) => unknown): Listener =>
        async (request, response) => {
          if (request.url === '/token') return google(request, response);
          expect(request.url).toBe('/v1/projects/own-project:testIamPermissions');
          const [, token = ''] = (request.headers.authorization ?? '').split(' ');
          const claims = verify(token, publicKey.export({ type: 'spki', format: 'pem' }), { issuer: ACCOUNT });
          expect(claims).toMatchObject({ sub: ACCOUNT, scope: expect.stringContaining('read-only') as string });
          const { permissions } = JSON.parse(await bodyOf(request)) as { permissions: string[] };
          answering(status, answer(permissions))(request, response);
        };

      it('gives no reason if the account may create nodes', async () => {
        const all = rights(200, (permissions) => ({ permissions }));
        expect(await check(ofProject, all)).toEqual({ working: true, checkedAs: ACCOUNT, reason: null });
      });

      it('names the permissions that the account lacks', async () => {
        const some = rights(200, (asked) => ({
          permissions: asked.filter((one) => !one.startsWith('compute.disks.c')),
        }));
        const reason = 'To create nodes in own-project, the credentials lack compute.disks.create.';
        expect(await check(ofProject, some)).toEqual({ working: true, checkedAs: ACCOUNT, reason });
        await server?.stop();
        const none = await check(
          ofProject,
          rights(200, () => ({})),
        );
        expect(none.reason).toContain('compute.instances.create, compute.instances.delete');
      });

      it('reports that Google did not return the permissions', async () => {
        const off = rights(403, () => ({ error: { message: 'The API is off' } }));
        const reason =
          'The platform could not check whether the credentials may create nodes in own-project: The API is off.';
        expect(await check(ofProject, off)).toEqual({ working: true, checkedAs: ACCOUNT, reason });
      });
    });

    it('never calls the endpoint that the credentials name', async () => {
      const asked = jest.fn();
      const elsewhere = await serveOnLoopback(asked);
      try {
        const credentials = { ...GOOGLE.credentials, TOKEN_URI: elsewhere.url, AUTH_URI: elsewhere.url };
        expect(await check({ ...GOOGLE, credentials }, google)).toMatchObject({ working: true });
        expect(asked).not.toHaveBeenCalled();
      } finally {
        await elsewhere.stop();
      }
    });

    it('refuses a key that cannot sign', async () => {
      const pem = { type: 'pkcs8', format: 'pem' } as const;
      const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem).toString();
      const wrong = { ...GOOGLE, credentials: { ...GOOGLE.credentials, PRIVATE_KEY: curve } };
      expect(await check(wrong, google)).toMatchObject({ working: false, reason: expect.stringContaining('RSA') });
    });
  });

  describe('for an Azure service principal', () => {
    const azure: Listener = async (request, response) => {
      const form = new URLSearchParams(await bodyOf(request));
      const isRight =
        request.url === '/contoso.example/oauth2/v2.0/token' &&
        form.get('grant_type') === 'client_credentials' &&
        form.get('client_secret') === 'the secret';
      const error = `AADSTS7000215: Invalid client secret ${form.get('client_secret')} for 'app-1'.\r\nTrace ID: 1`;
      const refusal = { error: 'invalid_client', error_description: error };
      answering(isRight ? 200 : 401, isRight ? granted : refusal)(request, response);
    };

    it('accepts its secret, and masks a wrong one', async () => {
      expect(await check(AZURE, azure)).toEqual({ working: true, checkedAs: 'app-1', reason: null });
      await server?.stop();
      const wrong = { ...AZURE, credentials: { ...AZURE.credentials, CLIENT_SECRET: 'guessed' } };
      const reason = "invalid_client: AADSTS7000215: Invalid client secret *** for 'app-1'.";
      expect(await check(wrong, azure)).toEqual({ working: false, checkedAs: null, reason });
    });

    describe('with a subscription', () => {
      const SUBSCRIPTION_ID = '0b6f7c1e-2c55-4f6a-9f0e-5b1d7a3c9e10';
      const ofSubscription = { ...AZURE, credentials: { ...AZURE.credentials, SUBSCRIPTION_ID } };
      const asked: string[] = [];
      const allowing =
        (status: number, ...pages: object[]): Listener =>
        async (request, response) => {
          if (request.url?.endsWith('/token')) return azure(request, response);
          expect(request.headers.authorization).toBe('Bearer token');
          asked.push(request.url ?? '');
          answering(status, pages.shift() ?? {})(request, response);
        };
      const value = (...actions: string[]) => [{ actions, notActions: ['Microsoft.Compute/*/delete'] }];

      beforeEach(() => asked.splice(0));

      it('gives no reason if it may create nodes', async () => {
        const all = allowing(200, { value: [{ actions: ['*'], notActions: ['Microsoft.Authorization/*/Write'] }] });
        expect(await check(ofSubscription, all)).toEqual({ working: true, checkedAs: 'app-1', reason: null });
        expect(asked).toEqual([
          `/subscriptions/${SUBSCRIPTION_ID}/providers/Microsoft.Authorization/permissions?api-version=2022-04-01`,
        ]);
      });

      it('names the actions that no role grants in a resource group', async () => {
        const some = allowing(200, {
          value: [
            ...value('microsoft.compute/*', 'Microsoft.Network/*/read'),
            ...value('Microsoft.Network/networkInterfaces/*'),
            { actions: ['Microsoft.Compute/disks/delete'] },
            null,
            { actions: 7 },
          ],
        });
        expect(await check({ ...ofSubscription, cloudProject: 'nodes(1)' }, some)).toMatchObject({
          working: true,
          reason:
            'To create nodes in the resource group nodes(1), the credentials lack Microsoft.Compute/virtualMachines/delete.',
        });
        expect(asked[0]).toContain('/resourceGroups/nodes(1)/providers/');
      });

      it('says how to check one resource group if rights in the whole subscription are missing', async () => {
        const { reason } = await check(ofSubscription, allowing(200, { value: [] }));
        expect(reason).toMatch(/^To create nodes in the whole subscription .*virtualMachines\/read,.*cloud_project\.$/);
      });

      it.each([
        ['denies the lookup', allowing(403, { error: { message: 'No role here' } }), 'could not check whether'],
        ['links to another server', allowing(200, { value: [], nextLink: 'http://evil.example/' }), 'credentials lack'],
        ['sends nonsense', allowing(200, { value: 'x' }), 'credentials lack'],
      ])('survives a server that %s', async (_what, listener, words) => {
        expect((await check(ofSubscription, listener)).reason).toContain(words);
        expect(asked).toHaveLength(1);
      });

      it('sends no resource group that is a path', async () => {
        const result = await check({ ...ofSubscription, cloudProject: '../x' }, allowing(200));
        expect(result).toMatchObject({ working: true, reason: expect.stringContaining('could not check') as string });
        expect(asked).toEqual([]);
      });
    });

    it('does not blame the credentials for a code of the server, whatever its status', async () => {
      const busy = answering(400, { error: 'temporarily_unavailable' });
      await expect(check(AZURE, busy)).rejects.toThrow(ProviderUnreachableError);
    });

    it.each(['../common', 'a/b', '', 'x?y'])('makes no call for the directory %p', async (TENANT_ID) => {
      const asked = jest.fn();
      const wrong = { ...AZURE, credentials: { ...AZURE.credentials, TENANT_ID } };
      expect(await check(wrong, asked)).toMatchObject({ working: false });
      expect(asked).not.toHaveBeenCalled();
    });
  });

  describe('for a key pair of AWS', () => {
    const AWS: CheckRequest = { provider: 'aws', credentials: { ...S3_KEYS, AWS_DEFAULT_REGION: 'eu-west-1' } };
    const xml = (name: string, content: string) => `<${name}>${content}</${name}>`;
    const identity = xml(
      'GetCallerIdentityResponse',
      '<GetCallerIdentityResult><Arn>arn:aws:iam::1:user/spark</Arn></GetCallerIdentityResult>',
    );
    const image = xml('DescribeImagesResponse', '<imagesSet><item><imageId>ami-1</imageId></item></imagesSet>');
    /** Responses of EC2 to dry runs: code and message by action; by default the call is allowed. */
    const aws =
      (refusals: Record<string, [code: string, words: string, status?: number]>): Listener =>
      async (request, response) => {
        const form = new URLSearchParams(await bodyOf(request));
        const action = form.get('Action') ?? '';
        if (action === 'GetCallerIdentity') return answering(200, identity, 'text/xml')(request, response);
        asked.push(form);
        if (form.get('DryRun') !== 'true') return answering(200, image, 'text/xml')(request, response);
        const [code, words, status = 403] = refusals[action] ?? [
          'DryRunOperation',
          'Request would have succeeded',
          412,
        ];
        const error = `<Errors><Error><Code>${code}</Code><Message>${words}</Message></Error></Errors><RequestID>1</RequestID>`;
        answering(status, xml('Response', error), 'text/xml')(request, response);
      };
    const asked: URLSearchParams[] = [];

    beforeEach(() => asked.splice(0));

    it('gives no reason if it may create nodes, and creates none', async () => {
      expect(await check(AWS, aws({}))).toEqual({
        ...{ working: true, checkedAs: 'arn:aws:iam::1:user/spark', reason: null },
      });
      const changes = asked.filter((form) => !form.get('Action')?.startsWith('Describe'));
      expect(changes.map((form) => [form.get('Action'), form.get('DryRun'), form.get('ImageId')])).toEqual([
        ['RunInstances', 'true', 'ami-1'],
      ]);
    });

    it('names the rights that it lacks', async () => {
      const denied = (words = 'You are not authorized.'): [string, string] => ['UnauthorizedOperation', words];
      const some = aws({
        DescribeVolumes: denied(),
        DescribeVpcs: denied(),
        RunInstances: denied('User is not authorized to perform: ec2:CreateTags on resource x'),
      });
      const reason =
        'To create nodes in eu-west-1, the credentials lack ec2:DescribeVpcs, ec2:DescribeVolumes, ec2:CreateTags.';
      expect(await check(AWS, some)).toMatchObject({ working: true, reason });
      await server?.stop();
      expect((await check(AWS, aws({ RunInstances: denied() }))).reason).toContain('lack ec2:RunInstances.');
    });

    it('does not take a missing default network for a missing right', async () => {
      const none = aws({ RunInstances: ['VPCIdNotSpecified', 'No default VPC for this user', 400] });
      expect(await check(AWS, none)).toMatchObject({ working: true, reason: null });
    });

    it('reports that EC2 did not return the rights', async () => {
      const busy = aws({ DescribeInstances: ['RequestLimitExceeded', 'Slow down.', 503] });
      const reason =
        'The platform could not check whether the credentials may create nodes in eu-west-1: RequestLimitExceeded: Slow down.';
      expect(await check(AWS, busy)).toMatchObject({ working: true, reason });
    });
  });

  describe('for an S3 store', () => {
    const error = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`;
    const refusing = (codeFor: (accessKey: number) => string): Listener => {
      let calls = 0;
      return (request, response) => answering(403, error(codeFor((calls += 1))), 'application/xml')(request, response);
    };
    const s3: CheckRequest = { provider: 's3-compatible', credentials: S3_KEYS };

    it('accepts keys that may not list buckets', async () => {
      const store = refusing((call) => (call === 1 ? 'AccessDenied' : 'SignatureDoesNotMatch'));
      expect(await check(s3, store)).toEqual({ working: true, checkedAs: null, reason: null });
    });

    it('cannot check keys if the store denies a wrong signature in the same way', async () => {
      const store = refusing(() => 'AccessDenied');
      await expect(check(s3, store)).rejects.toThrow(CheckUnsupportedError);
    });

    it.each(['InvalidAccessKeyId', 'SignatureDoesNotMatch'])('refuses keys for %s', async (code) => {
      expect(
        await check(
          s3,
          refusing(() => code),
        ),
      ).toEqual({ working: false, checkedAs: null, reason: `${code}: No.` });
    });

    it('does not blame the keys for a wrong clock', async () => {
      const store = refusing(() => 'RequestTimeTooSkewed');
      await expect(check(s3, store)).rejects.toThrow(ProviderUnreachableError);
    });

    it.each<[string, Listener]>([
      ['a refusal by something else', answering(403, '<html>Forbidden</html>', 'text/html')],
      ['a refusal without a word', answering(403, '')],
      ['a redirect', (_request, response) => void response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()],
    ])('does not judge by %s', async (_what, listener) => {
      await expect(check(s3, listener)).rejects.toThrow(ProviderUnreachableError);
    });

    it('stops reading an endless response', async () => {
      let sent = 0;
      const endless: Listener = (_request, response) => {
        const chunk = Buffer.alloc(64 * 1024, ' ');
        const send = () => {
          while (!response.destroyed && response.write(chunk)) sent += chunk.length;
          response.once('drain', send);
        };
        send();
      };
      await expect(check(s3, endless)).rejects.toThrow(ProviderUnreachableError);
      expect(sent).toBeLessThan(64 * 1024 * 1024);
    });

    it('refuses a host name that resolves to this machine', async () => {
      const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
      const production = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['private'] }, resolve);
      const credentials = { ...S3_KEYS, S3_ENDPOINT: 'http://store.example' };
      await expect(check({ ...s3, credentials }, jest.fn(), production)).rejects.toThrow(AddressRefusedError);
    });

    it('refuses keys that a header cannot contain', async () => {
      const asked = jest.fn();
      const credentials = { ...S3_KEYS, AWS_ACCESS_KEY_ID: 'a\r\nX-Injected: 1' };
      expect(await check({ ...s3, credentials }, asked)).toMatchObject({ working: false });
      expect(asked).not.toHaveBeenCalled();
    });
  });

  const everyProvider: [string, CheckRequest][] = [
    ['Google', GOOGLE],
    ['Azure', AZURE],
    ['S3', { provider: 's3-compatible', credentials: S3_KEYS }],
    ['AWS', { provider: 'aws', credentials: { ...S3_KEYS, AWS_DEFAULT_REGION: 'eu-west-1' } }],
  ];

  describe.each(everyProvider)('for %s', (_name, request) => {
    it('times out for a server that never responds', async () => {
      const started = Date.now();
      const waiting = check(request, () => undefined, outbound, 2_000);
      await expect(waiting).rejects.toThrow(/did not respond within 2 seconds/);
      expect(Date.now() - started).toBeLessThan(15_000);
    });

    it('does not judge by the page of another server', async () => {
      const page = answering(200, '<html><body>Welcome</body></html>', 'text/html');
      await expect(check(request, page)).rejects.toThrow(ProviderUnreachableError);
    });

    it('does not blame the credentials for a server error', async () => {
      const down = answering(503, { error: 'temporarily_unavailable', error_description: 'later' });
      await expect(check(request, down)).rejects.toThrow(ProviderUnreachableError);
    });

    it('reports an unreachable server without a secret', async () => {
      const gone = (incoming: IncomingMessage) => void incoming.socket.destroy();
      await expect(check(request, gone)).rejects.toThrow(/^(?!.*the secret).*cannot be reached/);
    });

    it('calls only addresses that the outbound policy allows', async () => {
      const asked = jest.fn();
      const production = new OutboundPolicy({ schemes: ['https', 'http'], allowedClasses: ['private'] });
      await expect(check(request, asked, production)).rejects.toThrow(AddressRefusedError);
      expect(asked).not.toHaveBeenCalled();
    });
  });

  describe('for an API key of Oracle Cloud', () => {
    let cloud: FakeOci;
    const region = 'eu-frankfurt-1';
    let deadlineMs: number;
    const ask = (change: Record<string, string> = {}, asked: string | undefined = region, policy = outbound) => {
      const checker = new CredentialChecker(policy, { clouds: { oci: cloud.url }, deadlineMs });
      return checker.check({ provider: 'oci', credentials: { ...cloud.credentials, ...change }, region: asked });
    };
    const refused = (status: number, code: string) => ({ status, code, message: 'Oracle says so.' });

    beforeEach(async () => {
      cloud = await FakeOci.start();
      deadlineMs = 15_000;
    });
    afterEach(() => cloud.stop());

    it('checks the key in a region, and names its user', async () => {
      const checkedAs = cloud.credentials['OCI_USER_OCID'];
      expect(await ask()).toEqual({ working: true, checkedAs, reason: null });
      expect(cloud.calls.every(({ operation }) => operation.startsWith('List'))).toBe(true);
      const checker = new CredentialChecker(outbound, { clouds: { oci: cloud.url } });
      const nowhere = checker.check({ provider: 'oci', credentials: cloud.credentials });
      await expect(nowhere).rejects.toThrow(CheckUnsupportedError);
    });

    it('refuses another key, and masks it', async () => {
      expect(await ask({ OCI_PRIVATE_KEY: newRsaPair().privateKey })).toMatchObject({
        working: false,
        reason: expect.stringContaining('authentication') as string,
      });
      const { working, reason } = await ask({ OCI_PRIVATE_KEY: 'the secret' });
      expect(working).toBe(false);
      expect(reason).toMatch(/OCI_PRIVATE_KEY(?!.*the secret)/);
    });

    it('refuses a key without a right, and names the right', async () => {
      cloud.fail('ListVolumes', refused(404, 'NotAuthorizedOrNotFound'));
      const { working, reason } = await ask();
      expect(working).toBe(false);
      expect(reason).toContain('volume-family in the compartment');
      expect(reason).not.toContain('instance-family');
      cloud.fail('ListAvailabilityDomains', refused(404, 'NotAuthorizedOrNotFound'));
      expect((await ask()).reason).toContain('availability-domains');
      expect((await ask({ OCI_COMPARTMENT_OCID: ocid('compartment') })).reason).toContain('virtual-network-family');
    });

    it('does not judge by a server error or a missing response', async () => {
      const mishaps = [refused(429, 'TooManyRequests'), refused(500, 'InternalError'), 'dropped', 'hangs'] as const;
      for (const mishap of mishaps) {
        cloud.fail('ListInstances', mishap);
        if (mishap === 'hangs') deadlineMs = 1_000;
        await expect(ask()).rejects.toThrow(ProviderUnreachableError);
      }
    });

    it('calls only addresses that the outbound policy allows, and valid regions', async () => {
      const production = new OutboundPolicy({ schemes: ['https', 'http'], allowedClasses: ['private'] });
      await expect(ask({}, region, production)).rejects.toThrow(AddressRefusedError);
      expect(await ask({}, 'evil.example/#')).toMatchObject({ working: false, reason: expect.any(String) as string });
      expect(cloud.calls).toEqual([]);
    });
  });

  describe('for a hypervisor', () => {
    let hypervisor: FakeProxmox;
    const PASSWORD = 'the secret of root';
    const ask = (password: string, deadlineMs = 20_000) => {
      const credentials = { USERNAME: 'root@pam', PASSWORD: password };
      const outbound = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['loopback'] });
      const checker = new CredentialChecker(outbound, { deadlineMs });
      return checker.check({ provider: 'proxmox', credentials, endpoint: hypervisor.url });
    };

    beforeEach(async () => {
      hypervisor = await FakeProxmox.start({ users: [{ name: 'root@pam', password: PASSWORD }] });
    });
    afterEach(() => hypervisor.stop());

    it('accepts the password of the account, and no other', async () => {
      expect(await ask(PASSWORD)).toEqual({ working: true, checkedAs: 'root@pam', reason: null });
      const refused = await ask('the secret of nobody');
      expect(refused).toEqual({
        working: false,
        checkedAs: null,
        reason: expect.stringContaining('authentication failure'),
      });
      expect(refused.reason).not.toContain('the secret');
    });

    it('names the privileges that the account has on no path', async () => {
      const { host } = new URL(hypervisor.url);
      await hypervisor.stop();
      const privileges = {
        '/': ['Sys.Audit', 'VM.Audit', 'VM.Monitor', 'SDN.Use'],
        '/vms': ['VM.Clone', 'VM.Allocate', 'VM.PowerMgmt', 'VM.Config.CDROM', 'VM.Config.CPU', 'VM.Config.Disk'],
        '/pool/x': ['VM.Config.Memory', 'VM.Config.Network', 'VM.Config.Options'],
        '/storage/a': ['Datastore.Audit', 'Datastore.AllocateSpace'],
      };
      hypervisor = await FakeProxmox.start({ users: [{ name: 'root@pam', password: PASSWORD, privileges }] });
      const result = await ask(PASSWORD);
      expect(result.reason?.replace(/127\.0\.0\.1:\d+/, host)).toBe(
        `To create nodes at ${host}, the credentials lack Datastore.AllocateTemplate.`,
      );
      expect(result.working).toBe(true);
    });

    it('names the unreachable host once', async () => {
      const { host } = new URL(hypervisor.url);
      await hypervisor.stop();
      await expect(ask(PASSWORD)).rejects.toThrow(new RegExp(`^${host} cannot be reached \\(\\w+\\)$`));
      hypervisor = await FakeProxmox.start({ users: [] });
    });

    it('does not judge by a response that is not from Proxmox VE, or by a missing one', async () => {
      hypervisor.answerWith((_request, response) => response.end('<html>'));
      await expect(ask(PASSWORD)).rejects.toThrow(CheckUnsupportedError);
      hypervisor.answerWith(() => undefined);
      await expect(ask(PASSWORD, 200)).rejects.toThrow(ProviderUnreachableError);
    });
  });
});
