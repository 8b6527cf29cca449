import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import type { Krb5Conf } from '../krb5-conf';
import { MetastoreError } from '../metastore-client';
import { connectionFault, refusal } from '../metastore-fault';
import { Semaphore } from '../semaphore';
import { clientConf, defaultRealmOf } from './client-conf';
import type { GssResponse, GssRequest } from './gss-messages';

/** A principal, its keys and the KDCs of its realm. */
export interface KerberosIdentity {
  /** `spark/node1@EXAMPLE.ORG`; without a realm, the default realm applies. */
  principal: string;
  /** The bytes of a keytab file. */
  keytab: Buffer;
  krb5: Krb5Conf;
}

/** Limits the processes, each of which takes some 50 MB. */
const processes = new Semaphore(8);
/** An idle process ends after this time, or earlier if another identity waits for a process. */
const IDLE_TIMEOUT_MS = 10_000;
const idle = new Set<GssIdentity>();

const PROGRAM = join(__dirname, 'gss-process.cjs');
/** Descriptors of the process's files, which are already deleted, so that none stays behind. */
const [KEYTAB_FD, CONF_FD] = [4, 5];
const MAX_STDERR_LENGTH = 2_000;

/** Runs GSSAPI for one identity in a process that starts on demand. */
export class GssIdentity {
  private process: Promise<GssProcess> | null = null;
  private contexts = 0;
  private timer: NodeJS.Timeout | null = null;
  private isClosed = false;

  constructor(
    private readonly identity: KerberosIdentity,
    private readonly outbound: OutboundPolicy,
  ) {}

  /**
   * Begins a context with a service. Rejects with {@link MetastoreError}, which quotes the reason of Kerberos.
   * @param service principal; without a realm, the default realm applies
   */
  async begin(
    service: string,
    signal: AbortSignal,
  ): Promise<{ context: GssContext; token: Buffer; complete: boolean }> {
    const { krb5, principal } = this.identity;
    const target = withRealm(service, krb5);
    this.contexts += 1;
    this.cancelIdleTimer();
    try {
      this.process ??= this.start(signal);
      const context = new GssContext(await this.process, () => this.leave());
      const { token, complete } = await context.begin(withRealm(principal, krb5), target, signal);
      return { context, token, complete };
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  /** Ends the process and its contexts. */
  close(): void {
    this.isClosed = true;
    this.endProcess();
  }

  private async start(signal: AbortSignal): Promise<GssProcess> {
    const [longestIdle] = idle;
    if (longestIdle) longestIdle.endProcess();
    try {
      const text = await withSignal(clientConf(this.identity.krb5, this.outbound), signal);
      await processes.acquire(signal);
      try {
        if (this.isClosed) throw new MetastoreError('unreachable', 'The connection to the metastore was closed.');
        return new GssProcess({ conf: text, keytab: this.identity.keytab }, (ended) => this.forget(ended));
      } catch (error) {
        processes.release();
        throw error;
      }
    } catch (error) {
      this.process = null;
      throw connectionFault('The KDC', error);
    }
  }

  private forget(ended: GssProcess): void {
    processes.release();
    void this.process?.then(
      (process) => process === ended && (this.process = null),
      () => undefined,
    );
  }

  private cancelIdleTimer(): void {
    idle.delete(this);
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private leave(): void {
    this.contexts -= 1;
    if (this.contexts > 0) return;
    if (processes.hasWaiters || this.isClosed) return this.endProcess();
    idle.add(this);
    this.timer = setTimeout(() => this.endProcess(), IDLE_TIMEOUT_MS).unref();
  }

  private endProcess(): void {
    this.cancelIdleTimer();
    const { process } = this;
    this.process = null;
    void process?.then(
      (one) => one.end(new MetastoreError('unreachable', 'The connection to the metastore was closed.')),
      () => undefined,
    );
  }
}

/** A security context. The caller must end it. */
export class GssContext {
  private readonly number: number;
  private hasEnded = false;

  constructor(
    private readonly process: GssProcess,
    private readonly ended: () => void,
  ) {
    this.number = process.nextContext();
  }

  begin(principal: string, target: string, signal: AbortSignal): Promise<{ token: Buffer; complete: boolean }> {
    const keytab = `FILE:/proc/self/fd/${KEYTAB_FD}`;
    const request = { step: 'begin' as const, context: this.number, principal, keytab, cache: 'MEMORY:login', target };
    return this.process.request(request, signal);
  }

  /** Returns the next token for the service. */
  continue(token: Buffer, signal: AbortSignal): Promise<{ token: Buffer; complete: boolean }> {
    return this.process.request({ step: 'continue', context: this.number, token }, signal);
  }

  async wrap(message: Buffer, confidential: boolean, signal: AbortSignal): Promise<Buffer> {
    const request = { step: 'wrap' as const, context: this.number, token: message, confidential };
    return (await this.process.request(request, signal)).token;
  }

  async unwrap(message: Buffer, signal: AbortSignal): Promise<Buffer> {
    return (await this.process.request({ step: 'unwrap', context: this.number, token: message }, signal)).token;
  }

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.process
      .request({ step: 'end', context: this.number }, AbortSignal.timeout(IDLE_TIMEOUT_MS))
      .catch(() => undefined);
    this.ended();
  }
}

interface Waiting {
  resolve: (answer: GssResponse) => void;
  reject: (error: Error) => void;
}

/** A running `gss-process.cjs`. */
class GssProcess {
  private readonly child: ChildProcess;
  /** Responses arrive in the order of the requests. */
  private readonly waiting: Waiting[] = [];
  private contexts = 0;
  private fault: MetastoreError | null = null;
  private stderr = '';

  constructor({ conf, keytab }: { conf: string; keytab: Buffer }, onEnd: (ended: GssProcess) => void) {
    const files = [keytab, Buffer.from(conf)].map(writeDeletedFile);
    try {
      this.child = fork(PROGRAM, [], {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...files],
        serialization: 'advanced',
        // Inherits nothing from the platform: no secrets, and no KRB5_* that would change the configuration.
        env: { KRB5_CONFIG: `/proc/self/fd/${CONF_FD}`, LC_ALL: 'C' },
        execArgv: ['--max-old-space-size=64'],
      });
    } finally {
      files.forEach(closeSync);
    }
    this.child.on('message', (answer) => this.waiting.shift()?.resolve(answer as GssResponse));
    this.child.on('error', (error) => this.end(connectionFault('The login by Kerberos', error)));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-MAX_STDERR_LENGTH);
    });
    this.child.once('close', () => {
      this.end(endOf(this.stderr));
      onEnd(this);
    });
  }

  nextContext(): number {
    this.contexts += 1;
    return this.contexts;
  }

  /** Sends a request and waits for its response. Aborting the signal kills the process, which may be waiting for a KDC. */
  async request(request: GssRequest, signal: AbortSignal): Promise<{ token: Buffer; complete: boolean }> {
    if (this.fault) throw this.fault;
    signal.throwIfAborted();
    const onAbort = () => this.end(connectionFault('The KDC', signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const { token, complete, error } = await new Promise<GssResponse>((resolve, reject) => {
        this.waiting.push({ resolve, reject });
        this.child.send(request, (failed) => failed && this.end(connectionFault('The login by Kerberos', failed)));
      });
      if (error !== undefined) throw faultOf(error, request);
      const bytes = token ?? new Uint8Array(0);
      return { token: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), complete: complete ?? false };
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  end(fault: MetastoreError): void {
    this.fault ??= fault;
    for (const { reject } of this.waiting.splice(0)) reject(this.fault);
    this.child.kill('SIGKILL');
  }
}

/** Writes a temporary file, deletes it and returns its descriptor, by which alone it can be read. */
function writeDeletedFile(content: Buffer): number {
  const folder = mkdtempSync(join(tmpdir(), 'kerberos-'));
  try {
    const file = join(folder, 'file');
    writeFileSync(file, content, { mode: 0o600 });
    return openSync(file, 'r');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withRealm(principal: string, krb5: Krb5Conf): string {
  if (principal.includes('@')) return principal;
  const realm = defaultRealmOf(krb5);
  if (realm === null) {
    throw new MetastoreError(
      'denied',
      `The principal ${principal} has no realm, and krb5.conf has no default_realm. Add one of the two.`,
    );
  }
  return `${principal}@${realm}`;
}

function faultOf(error: string, request: GssRequest): MetastoreError {
  const isAway = /cannot contact any kdc|cannot find kdc|resource temporarily unavailable/i.test(error);
  // The library's message for a keytab without the principal's key.
  const isUnknown = request.step === 'begin' && /no credentials cache found|keytab/i.test(error);
  const words = isUnknown ? `The keytab has no usable key of ${request.principal} (${error}).` : error;
  return refusal(isAway ? 'unreachable' : 'denied', 'Kerberos', words, []);
}

function endOf(stderr: string): MetastoreError {
  if (/libgssapi_krb5|cannot open shared object/i.test(stderr)) {
    return new MetastoreError(
      'unsupported',
      'The platform has no Kerberos library. An operator must install libgssapi-krb5-2 where the API runs.',
    );
  }
  return new MetastoreError('failed', 'The process for the Kerberos login ended unexpectedly. Try again.');
}

async function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}
