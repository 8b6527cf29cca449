import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoopbackServer, serveOnLoopback } from '../../test/fakes/http/loopback-server';
import { eventually } from '../../test/harness/eventually';
import { singleLine } from '../contracts/single-line';
import { InterruptionWatch, readNotice, runsEndAt } from './interruption';

const AT = '2026-01-31T08:00:00.000Z';

// Fakes of the providers' metadata services, over HTTP.
describe('notices of interruptions', () => {
  let server: LoopbackServer;
  /** Responses by path; any other path returns 404. */
  let pages: Record<string, string>;
  let requests: { method: string | undefined; url: string; headers: IncomingMessage['headers'] }[];
  let answer: ((request: IncomingMessage, response: ServerResponse) => void) | null;

  beforeAll(async () => {
    server = await serveOnLoopback((request, response) => {
      const { method, url = '', headers } = request;
      requests.push({ method, url, headers });
      if (answer) return answer(request, response);
      const page = pages[url];
      response.writeHead(page === undefined ? 404 : 200).end(page ?? 'Not Found');
    });
  });

  beforeEach(() => {
    pages = {};
    requests = [];
    answer = null;
  });

  afterAll(() => server.stop());

  const read = (kind: 'aws' | 'gcp' | 'azure') => readNotice({ kind, base_url: server.url });

  it('of AWS are read with a token', async () => {
    pages['/latest/api/token'] = 'the-token';
    expect(await read('aws')).toBeNull();
    pages['/latest/meta-data/spot/instance-action'] = '{"action": "terminate", "time": "2026-01-31T08:00:00Z"}';
    expect(await read('aws')).toEqual({ detail: 'AWS will terminate the spot instance.', ends_at: AT });
    const [token, action] = requests;
    expect([token?.method, token?.headers['x-aws-ec2-metadata-token-ttl-seconds']]).toEqual(['PUT', '60']);
    expect([action?.method, action?.headers['x-aws-ec2-metadata-token']]).toEqual(['GET', 'the-token']);
  });

  it('of Google Cloud have no time', async () => {
    pages['/computeMetadata/v1/instance/preempted'] = 'FALSE';
    expect(await read('gcp')).toBeNull();
    pages['/computeMetadata/v1/instance/preempted'] = 'TRUE\n';
    expect(await read('gcp')).toEqual({ detail: 'Google Cloud preempts the instance.', ends_at: null });
    expect(requests[0]?.headers['metadata-flavor']).toBe('Google');
  });

  it('of Azure are evictions of this very machine', async () => {
    const events = '/metadata/scheduledevents?api-version=2020-07-01';
    const of = (type: string, name: string) => ({
      EventType: type,
      Resources: [name],
      NotBefore: 'Sat, 31 Jan 2026 08:00:00 GMT',
    });
    pages['/metadata/instance/compute/name?api-version=2020-06-01&format=text'] = 'mine';
    for (const others of [[], [of('Reboot', 'mine')], [of('Preempt', 'other'), null]]) {
      pages[events] = JSON.stringify({ DocumentIncarnation: 1, Events: others });
      expect(await read('azure')).toBeNull();
    }
    pages[events] = JSON.stringify({ Events: [of('Preempt', 'other'), of('Preempt', 'mine')] });
    expect(await read('azure')).toEqual({ detail: 'Azure evicts the spot machine.', ends_at: AT });
    expect(requests.every(({ headers }) => headers['metadata'] === 'true')).toBe(true);
  });

  it.each(['aws', 'gcp', 'azure'] as const)('of %s are not read from a broken service', async (kind) => {
    // On a busy machine the response may be late.
    const fails = (reason: string) =>
      eventually(async () => (await expect(read(kind)).rejects.toThrow(reason), true), { timeoutMs: 30_000 });
    answer = (_request, response) => response.writeHead(500).end('TRUE');
    await fails('500');
    answer = (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    await expect(read(kind)).rejects.toThrow();
    answer = (_request, response) => response.end('x'.repeat(100_000));
    await fails('too long');
    answer = () => undefined;
    await expect(read(kind)).rejects.toThrow();
  });

  it('in a file are noticed once the file exists', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'notice-'));
    const path = join(folder, 'notice.json');
    const stopping = new AbortController();
    try {
      const failing = jest.fn<void, [Error]>();
      const announced = new Promise((resolve) => {
        writeFileSync(path, 'half a');
        const watch = new InterruptionWatch({ kind: 'file', path }, { announced: resolve, failing });
        failing.mockImplementation(() =>
          writeFileSync(path, JSON.stringify({ detail: 'd'.repeat(5_000), ends_at: '2026-01-31T09:00:00+01:00' })),
        );
        void watch.watch(stopping.signal);
      });
      expect(await announced).toEqual({ detail: singleLine('d'.repeat(5_000)), ends_at: AT });
      expect(failing).toHaveBeenCalledTimes(1);
      writeFileSync(path, '{"ends_at": "soon"}');
      expect(await readNotice({ kind: 'file', path })).toEqual({
        detail: 'The provider reclaims the machine.',
        ends_at: null,
      });
    } finally {
      stopping.abort();
      rmSync(folder, { recursive: true });
    }
  });

  it('give the runs until shortly before the end', () => {
    expect(runsEndAt({ detail: '', ends_at: AT }, 0)).toBe(Date.parse(AT) - 10_000);
    expect(runsEndAt({ detail: '', ends_at: null }, 1_000)).toBe(26_000);
  });
});
