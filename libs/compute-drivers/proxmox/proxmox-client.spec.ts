import type { RequestListener } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { type FakeNode, FakeProxmox, type FakeProxmoxOptions } from '../../../test/fakes/clouds/fake-proxmox';
import { selfSigned } from '../../../test/fakes/http/self-signed';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { ProxmoxClient, type ProxmoxLimits } from './proxmox-client';
import { ProxmoxConnections, type ProxmoxTrust } from './proxmox-connections';

const GIB = 2 ** 30;
const ROOT = { name: 'root@pam', password: 'pass wörd&=+' };
const TOKEN = { id: 'root@pam!platform', secret: '5f2ab2f0-8f4c-4a4c-9d57-1f6b6b7e0b11' };
const nodeOf = (node: string, status: FakeNode['status']): FakeNode => ({
  ...{ node, status, cpu: 0.25, maxcpu: 16, mem: 8 * GIB, maxmem: 64 * GIB, disk: 10 * GIB, maxdisk: 100 * GIB },
});
const NODES = [
  nodeOf('pve2', 'online'),
  nodeOf('pve3', 'offline'),
  nodeOf('pve1', 'online'),
  nodeOf('pve4', 'unknown'),
];
const NO_TRUST: ProxmoxTrust = { ca: null, unverifiedHosts: [] };
const loopback = async () => [{ address: '127.0.0.1', family: 4 }];
const LIMITS: ProxmoxLimits = { callMs: 5000, overallMs: 10_000, maxBytes: 4 * 1024 * 1024 };

describe('ProxmoxClient', () => {
  let fake: FakeProxmox;

  afterEach(() => fake?.stop());

  const start = async (options: FakeProxmoxOptions = {}) => {
    fake = await FakeProxmox.start({ users: [ROOT], tokens: [TOKEN], nodes: NODES, ...options });
    return fake;
  };
  const connections = (trust: Partial<ProxmoxTrust> = {}, policy = everything()) =>
    new ProxmoxConnections(policy, { ...NO_TRUST, ...trust });
  const everything = () => new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: ['loopback'] });
  const client = ({
    endpoint = fake.url,
    username = ROOT.name,
    password = ROOT.password,
    trust = {},
    limits = {},
  } = {}) => new ProxmoxClient(connections(trust), { endpoint, username, password }, { ...LIMITS, ...limits });
  const fault = (name: string, text = '') =>
    expect.objectContaining({ fault: name, code: `PROXMOX.${name}`, message: expect.stringContaining(text) });

  it('lists the online nodes, with a ticket', async () => {
    await start();
    const pve = { cores: 16, cpuUsage: 0.25, memoryBytes: 64 * GIB, memoryUsedBytes: 8 * GIB };
    expect(await client().onlineHosts()).toEqual([
      { name: 'pve1', ...pve, diskBytes: 100 * GIB, diskUsedBytes: 10 * GIB },
      { name: 'pve2', ...pve, diskBytes: 100 * GIB, diskUsedBytes: 10 * GIB },
    ]);
    expect(fake.calls).toEqual(['POST /api2/json/access/ticket', 'GET /api2/json/nodes']);
  });

  it('lists nodes that are not online, too', async () => {
    await start();
    const nodes = await client().nodes();
    expect(nodes.map(({ name, isOnline, resources }) => [name, isOnline, resources !== null])).toEqual([
      ['pve2', true, true],
      ['pve3', false, false],
      ['pve1', true, true],
      ['pve4', false, false],
    ]);
  });

  it('does not log in with an API token', async () => {
    await start();
    const hosts = await client({ username: TOKEN.id, password: TOKEN.secret }).onlineHosts();
    expect(hosts.map(({ name }) => name)).toEqual(['pve1', 'pve2']);
    expect(fake.calls).toEqual(['GET /api2/json/nodes']);
  });

  it.each(['/', '/api2', '/api2/json', '/api2/json/'])('accepts an endpoint that ends in %s', async (end) => {
    await start();
    expect(await client({ endpoint: fake.url + end }).onlineHosts()).toHaveLength(2);
  });

  it('reuses its ticket, and requests another one when the server no longer accepts it', async () => {
    await start();
    const one = client();
    await one.nodes();
    await one.nodes();
    expect(fake.calls.filter((call) => call.startsWith('POST'))).toHaveLength(1);
    fake.dropTickets();
    expect(await one.onlineHosts()).toHaveLength(2);
    expect(fake.calls.filter((call) => call.startsWith('POST'))).toHaveLength(2);
  });

  it('sends the CSRF token with changing calls', async () => {
    await start();
    await client().request('POST', '/pools', { form: { poolid: 'spark & co' } });
    await client({ username: TOKEN.id, password: TOKEN.secret }).request('POST', '/pools', { form: { poolid: 'two' } });
    expect(fake.pools).toEqual(['spark & co', 'two']);
  });

  it.each([
    ['a wrong password', { password: 'wrong' }, '401 authentication failure'],
    ['an unknown user', { username: 'nobody@pve' }, '401 authentication failure'],
    ['a wrong token', { username: TOKEN.id, password: 'wrong' }, '401 invalid token value!'],
    ['an unknown token', { username: 'root@pam!other', password: TOKEN.secret }, "401 no such token 'root@pam!other'"],
    ['an empty password', { password: '' }, '400 Parameter verification failed.'],
  ])('reports that %s is refused', async (_what, credentials, text) => {
    await start();
    await expect(client(credentials).onlineHosts()).rejects.toEqual(fault('CREDENTIALS_REFUSED', text));
  });

  it('refuses malformed credentials without sending them', async () => {
    await start();
    expect(() => client({ username: 'root' })).toThrow(fault('CREDENTIALS_REFUSED', 'realm'));
    expect(() => client({ username: TOKEN.id, password: 'a\r\nHost: evil' })).toThrow(fault('CREDENTIALS_REFUSED'));
    expect(fake.calls).toEqual([]);
  });

  it('reports that the account requires a second factor', async () => {
    await start({ users: [{ ...ROOT, secondFactor: true }] });
    await expect(client().onlineHosts()).rejects.toEqual(fault('CREDENTIALS_REFUSED', 'second factor'));
  });

  it('names the missing privilege instead of leaving a node out', async () => {
    await start({ users: [{ ...ROOT, mayAudit: false }] });
    await expect(client().onlineHosts()).rejects.toEqual(fault('CREDENTIALS_REFUSED', 'Sys.Audit'));
    expect(await client().nodes()).toHaveLength(4);
  });

  it('masks secrets that the server repeats', async () => {
    await start();
    fake.answerWith((_request, response) => response.writeHead(401, 'no hunter22 here').end());
    await expect(client({ password: 'hunter22' }).onlineHosts()).rejects.toEqual(
      expect.objectContaining({ message: expect.not.stringContaining('hunter22') }),
    );
  });

  const listeners: [string, RequestListener, string, string][] = [
    [
      'redirects',
      (_q, r) => r.writeHead(301, { Location: 'http://169.254.169.254/' }).end(),
      'NOT_PROXMOX',
      'redirect',
    ],
    ['is a web page', (_q, r) => r.end('<html>'), 'NOT_PROXMOX', 'JSON'],
    ['has other JSON', (_q, r) => r.end('{"status":"ok"}'), 'NOT_PROXMOX', 'JSON'],
    ['has a list instead of a ticket', (_q, r) => r.end('{"data":[]}'), 'NOT_PROXMOX', 'ticket'],
    ['has a ticket that is no text', (_q, r) => r.end('{"data":{"ticket":1}}'), 'NOT_PROXMOX', 'ticket'],
    ['does not know the path', (_q, r) => r.writeHead(404).end(), 'NOT_PROXMOX', '404'],
    ['fails', (_q, r) => r.writeHead(500, 'got no worker upid').end(), 'UNAVAILABLE', '500 got no worker upid.'],
    [
      'breaks off',
      (_q, r) => r.writeHead(200, { 'Content-Length': 100 }).write('{', () => r.destroy()),
      'UNAVAILABLE',
      '',
    ],
  ];
  it.each(listeners)('reports a server that %s', async (_what, listener, name, text) => {
    await start();
    fake.answerWith(listener);
    await expect(client().onlineHosts()).rejects.toEqual(fault(name, text));
    expect(fake.calls).toHaveLength(1);
  });

  it.each(['{"data":{}}', '{"data":[1]}', '{"data":[{"node":"a"}]}'])(
    'does not take %s for a list of nodes',
    async (body) => {
      await start();
      fake.answerWith((_request, response) => response.end(body));
      const nodes = client({ username: TOKEN.id, password: TOKEN.secret }).nodes();
      await expect(nodes).rejects.toEqual(fault('NOT_PROXMOX', 'list of nodes'));
    },
  );

  it('stops reading an endless response', async () => {
    await start();
    let isOpen = true;
    fake.answerWith((_request, response) => {
      response.on('close', () => (isOpen = false));
      const more = () => isOpen && response.write('x'.repeat(65_536), () => setImmediate(more));
      more();
    });
    await expect(client().onlineHosts()).rejects.toEqual(fault('NOT_PROXMOX', 'more than 4194304 bytes'));
  });

  it('times out for a server that is silent or sends a byte now and then', async () => {
    await start();
    const silent: RequestListener = () => undefined;
    const dripping: RequestListener = (_request, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    };
    for (const listener of [silent, dripping]) {
      fake.answerWith(listener);
      await expect(client({ limits: { callMs: 200 } }).onlineHosts()).rejects.toEqual(fault('TIMEOUT', '0.2 seconds'));
    }
  });

  it('applies the overall timeout to all calls together', async () => {
    await start();
    fake.answerWith((request, response) => {
      const isLogin = request.url?.endsWith('ticket');
      if (isLogin) setTimeout(() => response.end('{"data":{"ticket":"t","CSRFPreventionToken":"c"}}'), 200);
    });
    // On a busy machine, half a second may pass before the second call.
    for (const overallMs of [500, 5_000, 20_000]) {
      fake.calls.length = 0;
      const limits = { callMs: 40_000, overallMs };
      const began = performance.now();
      await expect(client({ limits }).onlineHosts()).rejects.toEqual(fault('TIMEOUT'));
      expect(performance.now() - began).toBeLessThan(limits.callMs - 1000);
      if (fake.calls.length > 1) break;
    }
    expect(fake.calls).toHaveLength(2);
  });

  it('ends with the signal of its caller', async () => {
    await start();
    const controller = new AbortController();
    fake.answerWith(() => controller.abort());
    await expect(client().nodes(controller.signal)).rejects.toEqual(fault('CANCELLED'));
    await expect(client().nodes(AbortSignal.abort())).rejects.toEqual(fault('CANCELLED'));
    expect(fake.calls).toHaveLength(1);
  });

  it('reports that the server is unreachable', async () => {
    await start();
    await fake.stop();
    await expect(client().onlineHosts()).rejects.toEqual(fault('UNAVAILABLE', 'ECONNREFUSED'));
  });

  it('says that something else listens', async () => {
    await start();
    const other: Server = createServer((socket) => socket.end('SSH-2.0-other\r\n'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    for (const scheme of ['http', 'https']) {
      const endpoint = `${scheme}://127.0.0.1:${port}`;
      await expect(client({ endpoint }).onlineHosts()).rejects.toEqual(fault('NOT_PROXMOX'));
    }
    other.close();
  });

  it('calls no address that the policy refuses, by address or by name', async () => {
    await start();
    const policy = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: [] }, loopback);
    const account = { username: ROOT.name, password: ROOT.password };
    const open = (endpoint: string) => new ProxmoxClient(connections({}, policy), { ...account, endpoint }, LIMITS);
    expect(() => open(fake.url)).toThrow(fault('ADDRESS_REFUSED', 'loopback'));
    const named = open(fake.url.replace('127.0.0.1', 'pve.example'));
    await expect(named.onlineHosts()).rejects.toEqual(fault('ADDRESS_REFUSED', 'loopback'));
    expect(fake.calls).toEqual([]);
  });

  describe('over TLS', () => {
    const identity = selfSigned();

    it('refuses a certificate of its own making, before any credential is sent', async () => {
      await start({ identity });
      await expect(client().onlineHosts()).rejects.toEqual(fault('CERTIFICATE_REFUSED', 'DEPTH_ZERO_SELF_SIGNED_CERT'));
      expect(fake.calls).toEqual([]);
    });

    it('accepts it if the authority is trusted, for the names in it', async () => {
      await start({ identity });
      const trust = { ca: identity.cert };
      expect(await client({ trust }).onlineHosts()).toHaveLength(2);
      const named = { endpoint: fake.url.replace('127.0.0.1', 'pve.example'), username: ROOT.name, password: 'p' };
      const policy = new OutboundPolicy({ schemes: ['https'], allowedClasses: ['loopback'] }, loopback);
      const other = new ProxmoxClient(connections(trust, policy), named, LIMITS);
      await expect(other.onlineHosts()).rejects.toEqual(fault('CERTIFICATE_REFUSED', 'ALTNAME'));
      await fake.stop();
      await start({ identity: selfSigned() });
      await expect(client({ trust }).onlineHosts()).rejects.toEqual(fault('CERTIFICATE_REFUSED'));
    });

    it('accepts it if certificates of the host, or of host and port, are not verified', async () => {
      await start({ identity });
      const { host, port } = new URL(fake.url);
      for (const listed of ['127.0.0.1', host]) {
        expect(await client({ trust: { unverifiedHosts: [listed] } }).onlineHosts()).toHaveLength(2);
      }
      for (const listed of ['localhost', `127.0.0.1:${Number(port) + 1}`]) {
        const trust = { unverifiedHosts: [listed] };
        await expect(client({ trust }).onlineHosts()).rejects.toEqual(fault('CERTIFICATE_REFUSED'));
      }
    });
  });
});
