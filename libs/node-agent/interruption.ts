import { open } from 'node:fs/promises';
import type { NodeInterruption } from '../contracts/agent-protocol';
import { singleLine } from '../contracts/single-line';
import { parseUntrusted, SHORT_JSON } from '../json/parse-json';
import { pause } from './waiting';

/**
 * The source of a provider's announcement that it reclaims the machine. Oracle Cloud has none that a machine can read: it announces
 * interruptions through its Events service, which belongs to the account.
 */
export type InterruptionNotice =
  | { kind: 'file'; path: string }
  /** `base_url` replaces the provider's address of the metadata service. */
  | { kind: MetadataKind; base_url?: string };

export type MetadataKind = 'aws' | 'gcp' | 'azure';

export const NOTICE_KINDS: readonly InterruptionNotice['kind'][] = ['file', 'aws', 'gcp', 'azure'];

const POLL_INTERVAL_MS = 5_000;
/** Reading a file is cheap. */
const FILE_POLL_INTERVAL_MS = 500;
const REQUEST_TIMEOUT_MS = 2_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Runs end this long before their machine. */
const BEFORE_END_MS = 10_000;
/** Runs end this long after a notice without a time. The shortest time that a provider gives is half a minute. */
const AFTER_NOTICE_MS = 25_000;

/** Returns when the runs of an interrupted machine have to end, by the wall clock; milliseconds. */
export function runsEndAt({ ends_at }: NodeInterruption, now: number): number {
  return ends_at === null ? now + AFTER_NOTICE_MS : Date.parse(ends_at) - BEFORE_END_MS;
}

export interface InterruptionListener {
  announced: (interruption: NodeInterruption) => void;
  /** The source started to fail, which is not a notice. */
  failing: (error: Error) => void;
}

/** Polls for the notice until it appears. */
export class InterruptionWatch {
  constructor(
    private readonly notice: InterruptionNotice,
    private readonly listener: InterruptionListener,
  ) {}

  async watch(stopped: AbortSignal): Promise<void> {
    let fails = false;
    while (!stopped.aborted) {
      try {
        const found = await readNotice(this.notice, stopped);
        if (found) return this.listener.announced(found);
        fails = false;
      } catch (error) {
        if (!fails && !stopped.aborted) this.listener.failing(error as Error);
        fails = true;
      }
      await pause(this.notice.kind === 'file' ? FILE_POLL_INTERVAL_MS : POLL_INTERVAL_MS, stopped);
    }
  }
}

/** Returns the notice; null if there is none yet. */
export async function readNotice(notice: InterruptionNotice, stopped?: AbortSignal): Promise<NodeInterruption | null> {
  if (notice.kind === 'file') return readFileNotice(notice.path);
  const { base, read } = SOURCES[notice.kind];
  const deadline = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const signal = stopped ? AbortSignal.any([deadline, stopped]) : deadline;
  return read((path, options = {}) => request(`${notice.base_url ?? base}${path}`, { ...options, signal }));
}

type MetadataRequest = (
  path: string,
  options?: { method?: string; headers?: Record<string, string> },
) => Promise<string | null>;

const AZURE_HEADERS = { headers: { Metadata: 'true' } };

/** Each provider's metadata service of machines. */
const SOURCES: Record<
  MetadataKind,
  { base: string; read: (request: MetadataRequest) => Promise<NodeInterruption | null> }
> = {
  aws: {
    base: 'http://169.254.169.254',
    read: async (request) => {
      const lifetime = { 'x-aws-ec2-metadata-token-ttl-seconds': '60' };
      const token = await request('/latest/api/token', { method: 'PUT', headers: lifetime });
      if (token === null) throw new Error('The metadata service returns no token');
      const headers = { 'x-aws-ec2-metadata-token': token };
      const text = await request('/latest/meta-data/spot/instance-action', { headers });
      if (text === null) return null;
      const { action, time } = recordOf(parseUntrusted(text, SHORT_JSON));
      return interruption(`AWS will ${wordOf(action, 'end')} the spot instance.`, time);
    },
  },
  gcp: {
    base: 'http://metadata.google.internal',
    read: async (request) => {
      const headers = { 'Metadata-Flavor': 'Google' };
      const text = await request('/computeMetadata/v1/instance/preempted', { headers });
      return text?.trim() === 'TRUE' ? interruption('Google Cloud preempts the instance.', null) : null;
    },
  },
  azure: {
    base: 'http://169.254.169.254',
    read: async (request) => {
      const text = await request('/metadata/scheduledevents?api-version=2020-07-01', AZURE_HEADERS);
      const { Events: events } = recordOf(parseUntrusted(text ?? '{}', SHORT_JSON));
      const preempting = (Array.isArray(events) ? events : [])
        .map(recordOf)
        .filter((e) => e['EventType'] === 'Preempt');
      if (preempting.length === 0) return null;
      // All machines of a scale set receive the events of each.
      const name = await request('/metadata/instance/compute/name?api-version=2020-06-01&format=text', AZURE_HEADERS);
      const own = preempting.find(({ Resources: names }) => Array.isArray(names) && names.includes(name?.trim()));
      return own ? interruption('Azure evicts the spot machine.', own['NotBefore']) : null;
    },
  },
};

async function readFileNotice(path: string): Promise<NodeInterruption | null> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (!file) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_RESPONSE_BYTES), 0, MAX_RESPONSE_BYTES, 0);
    const { detail, ends_at } = recordOf(parseUntrusted(buffer.subarray(0, bytesRead), SHORT_JSON));
    return interruption(wordOf(detail, 'The provider reclaims the machine.'), ends_at);
  } finally {
    await file.close();
  }
}

/** Returns the text of a response; null for 404. */
async function request(
  url: string,
  options: { method?: string; headers?: Record<string, string>; signal: AbortSignal },
): Promise<string | null> {
  const response = await fetch(url, { ...options, redirect: 'error' });
  if (response.status === 404) {
    await response.body?.cancel();
    return null;
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    parts.push(part as Uint8Array);
    length += (part as Uint8Array).length;
    if (length > MAX_RESPONSE_BYTES) throw new Error('The response is too long');
  }
  if (!response.ok) throw new Error(`The metadata service responds with status ${response.status}`);
  return Buffer.concat(parts).toString('utf8');
}

function interruption(detail: string, endsAt: unknown): NodeInterruption {
  const at = typeof endsAt === 'string' ? Date.parse(endsAt) : NaN;
  return {
    detail: singleLine(detail),
    ends_at: Number.isNaN(at) ? null : new Date(at).toISOString(),
  };
}

function wordOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
