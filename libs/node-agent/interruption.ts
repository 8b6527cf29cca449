import { open } from 'node:fs/promises';
import type { NodeInterruption } from '../contracts/agent-protocol';
import { singleLine } from '../contracts/single-line';
import { parseUntrusted, SHORT_JSON } from '../json/parse-json';
import { pause } from './waiting';

/**
 * Where a provider announces that it takes the machine back. Oracle Cloud has no place: its machines only hear of it by its
 * Events service, which is for accounts.
 */
export type InterruptionNotice =
  | { kind: 'file'; path: string }
  /** `base_url` is where the machine's metadata are, if not where the provider has them. */
  | { kind: MetadataKind; base_url?: string };

export type MetadataKind = 'aws' | 'gcp' | 'azure';

export const NOTICE_KINDS: readonly InterruptionNotice['kind'][] = ['file', 'aws', 'gcp', 'azure'];

const EVERY_MS = 5_000;
/** A file costs nothing. */
const FILE_EVERY_MS = 500;
const DEADLINE_MS = 2_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Runs end so long before their machine. */
const BEFORE_END_MS = 10_000;
/** The same after a notice that does not say when: the shortest time that a provider gives is half a minute. */
const AFTER_NOTICE_MS = 25_000;

/** When the runs of an interrupted machine have to end, by the wall clock; milliseconds. */
export function runsEndAt({ ends_at }: NodeInterruption, now: number): number {
  return ends_at === null ? now + AFTER_NOTICE_MS : Date.parse(ends_at) - BEFORE_END_MS;
}

export interface InterruptionListener {
  announced: (interruption: NodeInterruption) => void;
  /** The source fails where it did not before: that is no notice. */
  failing: (error: Error) => void;
}

/** Looks for the notice until there is one. */
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
      await pause(this.notice.kind === 'file' ? FILE_EVERY_MS : EVERY_MS, stopped);
    }
  }
}

/** The notice, or null while there is none. */
export async function readNotice(notice: InterruptionNotice, stopped?: AbortSignal): Promise<NodeInterruption | null> {
  if (notice.kind === 'file') return readFileNotice(notice.path);
  const { base, read } = SOURCES[notice.kind];
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const signal = stopped ? AbortSignal.any([deadline, stopped]) : deadline;
  return read((path, options = {}) => ask(`${notice.base_url ?? base}${path}`, { ...options, signal }));
}

type Ask = (path: string, options?: { method?: string; headers?: Record<string, string> }) => Promise<string | null>;

const AZURE_HEADERS = { headers: { Metadata: 'true' } };

/** The metadata of machines of each provider. */
const SOURCES: Record<MetadataKind, { base: string; read: (ask: Ask) => Promise<NodeInterruption | null> }> = {
  aws: {
    base: 'http://169.254.169.254',
    read: async (ask) => {
      const lifetime = { 'x-aws-ec2-metadata-token-ttl-seconds': '60' };
      const token = await ask('/latest/api/token', { method: 'PUT', headers: lifetime });
      if (token === null) throw new Error('the metadata service gives no token');
      const headers = { 'x-aws-ec2-metadata-token': token };
      const text = await ask('/latest/meta-data/spot/instance-action', { headers });
      if (text === null) return null;
      const { action, time } = recordOf(parseUntrusted(text, SHORT_JSON));
      return interruption(`AWS will ${wordOf(action, 'end')} the spot instance.`, time);
    },
  },
  gcp: {
    base: 'http://metadata.google.internal',
    read: async (ask) => {
      const headers = { 'Metadata-Flavor': 'Google' };
      const text = await ask('/computeMetadata/v1/instance/preempted', { headers });
      return text?.trim() === 'TRUE' ? interruption('Google Cloud preempts the instance.', null) : null;
    },
  },
  azure: {
    base: 'http://169.254.169.254',
    read: async (ask) => {
      const text = await ask('/metadata/scheduledevents?api-version=2020-07-01', AZURE_HEADERS);
      const { Events: events } = recordOf(parseUntrusted(text ?? '{}', SHORT_JSON));
      const preempting = (Array.isArray(events) ? events : [])
        .map(recordOf)
        .filter((e) => e['EventType'] === 'Preempt');
      if (preempting.length === 0) return null;
      // Events of a scale set are told to all of its machines.
      const name = await ask('/metadata/instance/compute/name?api-version=2020-06-01&format=text', AZURE_HEADERS);
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
    return interruption(wordOf(detail, 'The machine is taken back.'), ends_at);
  } finally {
    await file.close();
  }
}

/** The text of an answer; null for 404. */
async function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; signal: AbortSignal },
): Promise<string | null> {
  const answer = await fetch(url, { ...options, redirect: 'error' });
  if (answer.status === 404) {
    await answer.body?.cancel();
    return null;
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of answer.body ?? []) {
    parts.push(part as Uint8Array);
    length += (part as Uint8Array).length;
    if (length > MAX_RESPONSE_BYTES) throw new Error('the answer is too long');
  }
  if (!answer.ok) throw new Error(`the metadata service answers ${answer.status}`);
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
