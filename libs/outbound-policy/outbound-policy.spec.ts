import { createServer, get as httpGet, type Server } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { addressClass, networkList } from './address-class';
import { OutboundPolicy, type OutboundRules } from './outbound-policy';

const PRODUCTION: OutboundRules = { schemes: ['https'], allowedClasses: ['private'] };
const QUICKSTART: OutboundRules = { schemes: ['http', 'https'], allowedClasses: ['private', 'loopback'] };

describe('addressClass', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['2606:4700::1111', 'public'],
    ['10.0.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', 'public'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd12:3456::1', 'private'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::127.0.0.1', 'loopback'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['2002:7f00:1::', 'loopback'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['::ffff:169.254.1.1', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['64:ff9b::a9fe:a9fe', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['0.0.0.0', 'reserved'],
    ['0.1.2.3', 'reserved'],
    ['::', 'reserved'],
    ['224.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['ff02::1', 'reserved'],
    ['2001::1', 'reserved'],
    ['64:ff9b::808:808', 'public'],
  ])('classes %s as %s', (address, expected) => {
    expect(addressClass(address)).toBe(expected);
  });

  it.each(['10.0.0.0/33', 'example.com', '10.0.0.0/8/8x', '10.0.0.0/-1', ''])('refuses %p as a network', (network) => {
    expect(() => networkList([network])).toThrow('neither an IP address nor a network');
  });
});

describe('OutboundPolicy.assertUrl', () => {
  it.each([
    ['http://minio.example.com', 'scheme http'],
    ['ftp://minio.example.com', 'scheme ftp'],
    ['file:///etc/passwd', 'scheme file'],
    ['minio.example.com', 'not a URL'],
    ['https://user:pass@minio.example.com', 'user name or password'],
    ['https://localhost:9000', 'loopback'],
    ['https://LOCALHOST', 'loopback'],
    ['https://a.localhost.', 'loopback'],
    ['https://127.0.0.1', 'loopback'],
    ['https://127.1', 'loopback'],
    ['https://2130706433', 'loopback'],
    ['https://0x7f000001', 'loopback'],
    ['https://0177.0.0.1', 'loopback'],
    ['https://0', 'reserved'],
    ['https://[::1]', 'loopback'],
    ['https://[::ffff:127.0.0.1]', 'loopback'],
    ['https://①②⑦.⓪.⓪.①', 'loopback'],
    ['https://169.254.169.254/latest/meta-data', 'metadata'],
    ['https://2852039166', 'metadata'],
    ['https://[::ffff:a9fe:a9fe]', 'metadata'],
    ['https://169.254.10.10', 'link-local'],
  ])('refuses %s in production', (url, reason) => {
    expect(() => new OutboundPolicy(PRODUCTION).assertUrl(url)).toThrow(reason);
  });

  it.each(['https://s3.example.com/path', 'https://10.1.2.3:9000', 'https://[2606:4700::1111]', 'https://1.1.1.1'])(
    'allows %s in production',
    (url) => {
      expect(new OutboundPolicy(PRODUCTION).assertUrl(url).href).toBe(new URL(url).href);
    },
  );

  it('allows loopback if its class is allowed, and never metadata', () => {
    const policy = new OutboundPolicy(QUICKSTART);
    expect(policy.assertUrl('http://127.0.0.1:9000').port).toBe('9000');
    expect(policy.assertUrl('http://localhost:9000').port).toBe('9000');
    expect(() => policy.assertUrl('http://169.254.169.254')).toThrow('metadata');
  });

  it('allows single networks of a refused class', () => {
    const policy = new OutboundPolicy({ ...PRODUCTION, allowedClasses: [], allowedNetworks: ['10.1.0.0/16'] });
    expect(policy.assertUrl('https://10.1.2.3').hostname).toBe('10.1.2.3');
    expect(policy.assertUrl('https://[::ffff:10.1.2.3]').protocol).toBe('https:');
    expect(() => policy.assertUrl('https://10.2.0.1')).toThrow('private');
  });
});

describe('OutboundPolicy.publicOnly', () => {
  it('allows public addresses only, whatever else the rules allow, by address and by name', async () => {
    const resolve = async (host: string) => [
      { address: host === 'public.example.org' ? '8.8.8.8' : '10.0.0.1', family: 4 },
    ];
    const policy = new OutboundPolicy({ ...QUICKSTART, allowedNetworks: ['203.0.113.0/24'] }, resolve);
    const found = (host: string) =>
      new Promise((done) => {
        policy.publicOnly.lookup(host, {}, (error, address) => done(error?.code ?? address));
      });
    policy.publicOnly.assertUrl('http://8.8.8.8');
    for (const address of ['10.0.0.1', '127.0.0.1', '203.0.113.7']) {
      policy.assertHost(address);
      expect(() => policy.publicOnly.assertHost(address)).toThrow('refused');
    }
    expect(await found('public.example.org')).toBe('8.8.8.8');
    expect(await found('inside.example.org')).toBe('ERR_ADDRESS_REFUSED');
  });
});

describe('OutboundPolicy.agents', () => {
  let server: Server;
  let port: number;

  beforeEach(async () => {
    server = createServer((_request, answer) => answer.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const get = (policy: OutboundPolicy, url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const request = url.startsWith('https:')
        ? httpsGet(url, { agent: policy.agents.https })
        : httpGet(url, { agent: policy.agents.http });
      request.on('error', reject).on('response', (answer) => void text(answer).then(resolve, reject));
    });
  const resolvesTo =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  it('connects to allowed hosts by name and by address', async () => {
    const policy = new OutboundPolicy(QUICKSTART, resolvesTo('127.0.0.1'));
    expect(await get(policy, `http://store.example:${port}/`)).toBe('reached');
    expect(await get(policy, `http://127.0.0.1:${port}/`)).toBe('reached');
    policy.agents.http.destroy();
  });

  it.each(['http', 'https'])('refuses a name that resolves to a refused address (%s)', async (scheme) => {
    const policy = new OutboundPolicy(PRODUCTION, resolvesTo('127.0.0.1'));
    await expect(get(policy, `${scheme}://store.example:${port}/`)).rejects.toMatchObject({
      code: 'ERR_ADDRESS_REFUSED',
      message: expect.stringContaining('store.example, which is at 127.0.0.1,'),
    });
  });

  it.each(['http', 'https'])('refuses an address without looking it up (%s)', async (scheme) => {
    const policy = new OutboundPolicy(PRODUCTION, () => Promise.reject(new Error('looked up')));
    await expect(get(policy, `${scheme}://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
    await expect(get(policy, `${scheme}://[::1]:${port}/`)).rejects.toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
  });

  it('refuses a name if one of its addresses is refused', async () => {
    const policy = new OutboundPolicy(PRODUCTION, resolvesTo('1.1.1.1', '::1'));
    await expect(get(policy, `http://store.example:${port}/`)).rejects.toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
  });

  it('connects to the address it checked: a name that resolves to another one the next time gains nothing', async () => {
    const answers = ['127.0.0.1', '169.254.169.254'];
    const seen: string[] = [];
    const policy = new OutboundPolicy(QUICKSTART, async () => {
      const address = answers.shift() ?? '';
      seen.push(address);
      return [{ address, family: 4 }];
    });
    expect(await get(policy, `http://store.example:${port}/`)).toBe('reached');
    expect(seen).toEqual(['127.0.0.1']);
    policy.agents.http.destroy();
    await expect(get(policy, `http://store.example:${port}/`)).rejects.toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
  });

  it('fails like the system resolver when a host has no address', async () => {
    const policy = new OutboundPolicy(QUICKSTART, resolvesTo());
    await expect(get(policy, `http://store.example:${port}/`)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(get(new OutboundPolicy(QUICKSTART), 'http://nowhere.invalid/')).rejects.toMatchObject({
      syscall: 'getaddrinfo',
    });
  });
});
