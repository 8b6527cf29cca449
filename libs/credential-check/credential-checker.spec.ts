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
 * Fakes, written from published descriptions: token endpoints from RFC 6749 (4.4, 5) and RFC 7523 (2.1, 3), S3's errors
 * from the reference of its API.
 */
describe('CredentialChecker', () => {
  const outbound = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['loopback'] });
  let server: LoopbackServer | undefined;

  afterEach(() => server?.stop());

  /** The first check by an SDK loads it. */
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

  describe('of a Google service account', () => {
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

    it('works with its own key, and with no other', async () => {
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

      it('says nothing of an account that may make nodes', async () => {
        const all = rights(200, (permissions) => ({ permissions }));
        expect(await check(ofProject, all)).toEqual({ working: true, checkedAs: ACCOUNT, reason: null });
      });

      it('names the rights that the account lacks', async () => {
        const some = rights(200, (asked) => ({
          permissions: asked.filter((one) => !one.startsWith('compute.disks.c')),
        }));
        const reason = 'To make nodes in own-project, they lack compute.disks.create.';
        expect(await check(ofProject, some)).toEqual({ working: true, checkedAs: ACCOUNT, reason });
        await server?.stop();
        const none = await check(
          ofProject,
          rights(200, () => ({})),
        );
        expect(none.reason).toContain('compute.instances.create, compute.instances.delete');
      });

      it('says so where Google does not tell', async () => {
        const off = rights(403, () => ({ error: { message: 'The API is off' } }));
        const reason = 'Whether they may make nodes in own-project is not known: The API is off.';
        expect(await check(ofProject, off)).toEqual({ working: true, checkedAs: ACCOUNT, reason });
      });
    });

    it('never asks the endpoint that the credentials name', async () => {
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

    it('needs a key that can sign', async () => {
      const pem = { type: 'pkcs8', format: 'pem' } as const;
      const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem).toString();
      const wrong = { ...GOOGLE, credentials: { ...GOOGLE.credentials, PRIVATE_KEY: curve } };
      expect(await check(wrong, google)).toMatchObject({ working: false, reason: expect.stringContaining('RSA') });
    });
  });

  describe('of an Azure service principal', () => {
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

    it('works with its secret, and a wrong one is not repeated', async () => {
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

      it('says nothing where it may make nodes', async () => {
        const all = allowing(200, { value: [{ actions: ['*'], notActions: ['Microsoft.Authorization/*/Write'] }] });
        expect(await check(ofSubscription, all)).toEqual({ working: true, checkedAs: 'app-1', reason: null });
        expect(asked).toEqual([
          `/subscriptions/${SUBSCRIPTION_ID}/providers/Microsoft.Authorization/permissions?api-version=2022-04-01`,
        ]);
      });

      it('names the actions that it lacks in a resource group, over all roles that it has', async () => {
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
          reason: 'To make nodes in the resource group nodes(1), they lack Microsoft.Compute/virtualMachines/delete.',
        });
        expect(asked[0]).toContain('/resourceGroups/nodes(1)/providers/');
      });

      it('says how to ask for one group where the subscription as a whole is not allowed', async () => {
        const { reason } = await check(ofSubscription, allowing(200, { value: [] }));
        expect(reason).toMatch(/^To make nodes in the whole subscription .*virtualMachines\/read,.*cloud_project\.$/);
      });

      it.each([
        ['is told nothing', allowing(403, { error: { message: 'No role here' } }), 'is not known: No role here.'],
        ['is sent elsewhere', allowing(200, { value: [], nextLink: 'http://evil.example/' }), 'they lack'],
        ['gets nonsense', allowing(200, { value: 'x' }), 'they lack'],
      ])('survives that it %s', async (_what, listener, words) => {
        expect((await check(ofSubscription, listener)).reason).toContain(words);
        expect(asked).toHaveLength(1);
      });

      it('asks for no group whose name leads elsewhere', async () => {
        const told = await check({ ...ofSubscription, cloudProject: '../x' }, allowing(200));
        expect(told).toMatchObject({ working: true, reason: expect.stringContaining('is not known') as string });
        expect(asked).toEqual([]);
      });
    });

    it('a code of the server is none of the credentials, whatever its status', async () => {
      const busy = answering(400, { error: 'temporarily_unavailable' });
      await expect(check(AZURE, busy)).rejects.toThrow(ProviderUnreachableError);
    });

    it.each(['../common', 'a/b', '', 'x?y'])('calls nobody for the directory %p', async (TENANT_ID) => {
      const asked = jest.fn();
      const wrong = { ...AZURE, credentials: { ...AZURE.credentials, TENANT_ID } };
      expect(await check(wrong, asked)).toMatchObject({ working: false });
      expect(asked).not.toHaveBeenCalled();
    });
  });

  describe('of a key pair of AWS', () => {
    const AWS: CheckRequest = { provider: 'aws', credentials: { ...S3_KEYS, AWS_DEFAULT_REGION: 'eu-west-1' } };
    const xml = (name: string, content: string) => `<${name}>${content}</${name}>`;
    const identity = xml(
      'GetCallerIdentityResponse',
      '<GetCallerIdentityResult><Arn>arn:aws:iam::1:user/spark</Arn></GetCallerIdentityResult>',
    );
    const image = xml('DescribeImagesResponse', '<imagesSet><item><imageId>ami-1</imageId></item></imagesSet>');
    /** EC2's answers to dry runs: by action, its code and words; a run that it would do by default. */
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

    it('says nothing where it may make nodes, and makes none', async () => {
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
      const reason = 'To make nodes in eu-west-1, they lack ec2:DescribeVpcs, ec2:DescribeVolumes, ec2:CreateTags.';
      expect(await check(AWS, some)).toMatchObject({ working: true, reason });
      await server?.stop();
      expect((await check(AWS, aws({ RunInstances: denied() }))).reason).toContain('lack ec2:RunInstances.');
    });

    it('takes it for no missing right that there is no usual network', async () => {
      const none = aws({ RunInstances: ['VPCIdNotSpecified', 'No default VPC for this user', 400] });
      expect(await check(AWS, none)).toMatchObject({ working: true, reason: null });
    });

    it('says so where EC2 does not tell', async () => {
      const busy = aws({ DescribeInstances: ['RequestLimitExceeded', 'Slow down.', 503] });
      const reason = 'Whether they may make nodes in eu-west-1 is not known: RequestLimitExceeded: Slow down.';
      expect(await check(AWS, busy)).toMatchObject({ working: true, reason });
    });
  });

  describe('of a store that speaks S3', () => {
    const error = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`;
    const refusing = (codeFor: (accessKey: number) => string): Listener => {
      let calls = 0;
      return (request, response) => answering(403, error(codeFor((calls += 1))), 'application/xml')(request, response);
    };
    const s3: CheckRequest = { provider: 's3-compatible', credentials: S3_KEYS };

    it('a list that is denied says that the signature is right', async () => {
      const store = refusing((call) => (call === 1 ? 'AccessDenied' : 'SignatureDoesNotMatch'));
      expect(await check(s3, store)).toEqual({ working: true, checkedAs: null, reason: null });
    });

    it('unless the store denies a wrong signature alike', async () => {
      const store = refusing(() => 'AccessDenied');
      await expect(check(s3, store)).rejects.toThrow(CheckUnsupportedError);
    });

    it.each(['InvalidAccessKeyId', 'SignatureDoesNotMatch'])('%s is about the keys', async (code) => {
      expect(
        await check(
          s3,
          refusing(() => code),
        ),
      ).toEqual({ working: false, checkedAs: null, reason: `${code}: No.` });
    });

    it('a clock that is off is not', async () => {
      const store = refusing(() => 'RequestTimeTooSkewed');
      await expect(check(s3, store)).rejects.toThrow(ProviderUnreachableError);
    });

    it.each<[string, Listener]>([
      ['a refusal by something else', answering(403, '<html>Forbidden</html>', 'text/html')],
      ['a refusal without a word', answering(403, '')],
      ['a redirect', (_request, response) => void response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()],
    ])('%s is no answer', async (_what, listener) => {
      await expect(check(s3, listener)).rejects.toThrow(ProviderUnreachableError);
    });

    it('an answer without end is cut', async () => {
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

    it('a name that leads to this machine is refused when it is called', async () => {
      const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
      const production = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['private'] }, resolve);
      const credentials = { ...S3_KEYS, S3_ENDPOINT: 'http://store.example' };
      await expect(check({ ...s3, credentials }, jest.fn(), production)).rejects.toThrow(AddressRefusedError);
    });

    it('keys that cannot be sent are no keys', async () => {
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

  describe.each(everyProvider)('of %s', (_name, request) => {
    it('a server that never answers is not waited for', async () => {
      const started = Date.now();
      const waiting = check(request, () => undefined, outbound, 2_000);
      await expect(waiting).rejects.toThrow(/does not answer within 2 seconds/);
      expect(Date.now() - started).toBeLessThan(15_000);
    });

    it('a page of something else is no answer', async () => {
      const page = answering(200, '<html><body>Welcome</body></html>', 'text/html');
      await expect(check(request, page)).rejects.toThrow(ProviderUnreachableError);
    });

    it('trouble of the server is none of the credentials', async () => {
      const down = answering(503, { error: 'temporarily_unavailable', error_description: 'later' });
      await expect(check(request, down)).rejects.toThrow(ProviderUnreachableError);
    });

    it('a server that is not there is said to be so, without a secret', async () => {
      const gone = (incoming: IncomingMessage) => void incoming.socket.destroy();
      await expect(check(request, gone)).rejects.toThrow(/^(?!.*the secret).*cannot be reached/);
    });

    it('is called through the outbound policy', async () => {
      const asked = jest.fn();
      const production = new OutboundPolicy({ schemes: ['https', 'http'], allowedClasses: ['private'] });
      await expect(check(request, asked, production)).rejects.toThrow(AddressRefusedError);
      expect(asked).not.toHaveBeenCalled();
    });
  });

  describe('of an API key of Oracle Cloud', () => {
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

    it('is asked in a region, and says who it is', async () => {
      const checkedAs = cloud.credentials['OCI_USER_OCID'];
      expect(await ask()).toEqual({ working: true, checkedAs, reason: null });
      expect(cloud.calls.every(({ operation }) => operation.startsWith('List'))).toBe(true);
      const checker = new CredentialChecker(outbound, { clouds: { oci: cloud.url } });
      const nowhere = checker.check({ provider: 'oci', credentials: cloud.credentials });
      await expect(nowhere).rejects.toThrow(CheckUnsupportedError);
    });

    it('does not work with another key, and neither repeats it', async () => {
      expect(await ask({ OCI_PRIVATE_KEY: newRsaPair().privateKey })).toMatchObject({
        working: false,
        reason: expect.stringContaining('authentication') as string,
      });
      const { working, reason } = await ask({ OCI_PRIVATE_KEY: 'the secret' });
      expect(working).toBe(false);
      expect(reason).toMatch(/OCI_PRIVATE_KEY(?!.*the secret)/);
    });

    it('does not work without a right, and names it', async () => {
      cloud.fail('ListVolumes', refused(404, 'NotAuthorizedOrNotFound'));
      const { working, reason } = await ask();
      expect(working).toBe(false);
      expect(reason).toContain('volume-family in the compartment');
      expect(reason).not.toContain('instance-family');
      cloud.fail('ListAvailabilityDomains', refused(404, 'NotAuthorizedOrNotFound'));
      expect((await ask()).reason).toContain('availability-domains');
      expect((await ask({ OCI_COMPARTMENT_OCID: ocid('compartment') })).reason).toContain('virtual-network-family');
    });

    it('is not judged by an answer that does not tell, or by none', async () => {
      const mishaps = [refused(429, 'TooManyRequests'), refused(500, 'InternalError'), 'dropped', 'hangs'] as const;
      for (const mishap of mishaps) {
        cloud.fail('ListInstances', mishap);
        if (mishap === 'hangs') deadlineMs = 1_000;
        await expect(ask()).rejects.toThrow(ProviderUnreachableError);
      }
    });

    it('is asked through the outbound policy, and only where a region can be', async () => {
      const production = new OutboundPolicy({ schemes: ['https', 'http'], allowedClasses: ['private'] });
      await expect(ask({}, region, production)).rejects.toThrow(AddressRefusedError);
      expect(await ask({}, 'evil.example/#')).toMatchObject({ working: false, reason: expect.any(String) as string });
      expect(cloud.calls).toEqual([]);
    });
  });

  describe('of a hypervisor', () => {
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

    it('tells whether it lets the account in', async () => {
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
      const told = await ask(PASSWORD);
      expect(told.reason?.replace(/127\.0\.0\.1:\d+/, host)).toBe(
        `To make nodes at ${host}, they lack Datastore.AllocateTemplate.`,
      );
      expect(told.working).toBe(true);
    });

    it('says once who cannot be reached', async () => {
      const { host } = new URL(hypervisor.url);
      await hypervisor.stop();
      await expect(ask(PASSWORD)).rejects.toThrow(new RegExp(`^${host} cannot be reached \\(\\w+\\)$`));
      hypervisor = await FakeProxmox.start({ users: [] });
    });

    it('does not judge by an answer that is none of Proxmox VE, or by no answer', async () => {
      hypervisor.answerWith((_request, response) => response.end('<html>'));
      await expect(ask(PASSWORD)).rejects.toThrow(CheckUnsupportedError);
      hypervisor.answerWith(() => undefined);
      await expect(ask(PASSWORD, 200)).rejects.toThrow(ProviderUnreachableError);
    });
  });
});
