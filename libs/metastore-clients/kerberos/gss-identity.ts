import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import type { Krb5Conf } from '../krb5-conf';
import { MetastoreError } from '../metastore-client';
import { connectionFault, refusal } from '../metastore-fault';
import { Places } from '../places';
import { clientConf, usualRealm } from './client-conf';
import type { GssAnswer, GssRequest } from './gss-messages';

/** Who logs in, and where its keys are known. */
export interface KerberosIdentity {
  /** `spark/node1@EXAMPLE.ORG`; without a realm it is in the usual one. */
  principal: string;
  /** The bytes of a keytab file. */
  keytab: Buffer;
  krb5: Krb5Conf;
}

/** Each has some 50 MB. */
const places = new Places(8);
/** A process that nobody needs stays for so long, milliseconds, unless others wait for its place. */
const IDLE_MS = 10_000;
const idle = new Set<GssIdentity>();

const PROGRAM = join(__dirname, 'gss-process.cjs');
/** Descriptors by which the process reads its files, which have no names by then: nothing stays behind. */
const [KEYTAB_FD, CONF_FD] = [4, 5];
const MAX_STDERR_LENGTH = 2_000;

/** Speaks GSSAPI for one identity, by a process that is started when it is needed. */
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
   * Begins a context with a service. Rejects with {@link MetastoreError}, which says what Kerberos said.
   * @param service principal; without a realm it is in the usual one
   */
  async begin(
    service: string,
    signal: AbortSignal,
  ): Promise<{ context: GssContext; token: Buffer; complete: boolean }> {
    const { krb5, principal } = this.identity;
    const target = withRealm(service, krb5);
    this.contexts += 1;
    this.stay();
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

  /** Ends the process, and the contexts with it. */
  close(): void {
    this.isClosed = true;
    this.endProcess();
  }

  private async start(signal: AbortSignal): Promise<GssProcess> {
    const [longest] = idle;
    if (longest) longest.endProcess();
    try {
      const text = await withSignal(clientConf(this.identity.krb5, this.outbound), signal);
      await places.take(signal);
      try {
        if (this.isClosed) throw new MetastoreError('unreachable', 'The connection to the metastore was closed.');
        return new GssProcess({ conf: text, keytab: this.identity.keytab }, (ended) => this.forget(ended));
      } catch (error) {
        places.release();
        throw error;
      }
    } catch (error) {
      this.process = null;
      throw connectionFault('The KDC', error);
    }
  }

  private forget(ended: GssProcess): void {
    places.release();
    void this.process?.then(
      (process) => process === ended && (this.process = null),
      () => undefined,
    );
  }

  private stay(): void {
    idle.delete(this);
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private leave(): void {
    this.contexts -= 1;
    if (this.contexts > 0) return;
    if (places.isWaitedFor || this.isClosed) return this.endProcess();
    idle.add(this);
    this.timer = setTimeout(() => this.endProcess(), IDLE_MS).unref();
  }

  private endProcess(): void {
    this.stay();
    const { process } = this;
    this.process = null;
    void process?.then(
      (one) => one.end(new MetastoreError('unreachable', 'The connection to the metastore was closed.')),
      () => undefined,
    );
  }
}

/** A security context. Its owner ends it. */
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
    return this.process.ask(request, signal);
  }

  /** What the service has to be told next. */
  continue(token: Buffer, signal: AbortSignal): Promise<{ token: Buffer; complete: boolean }> {
    return this.process.ask({ step: 'continue', context: this.number, token }, signal);
  }

  async wrap(message: Buffer, confidential: boolean, signal: AbortSignal): Promise<Buffer> {
    const request = { step: 'wrap' as const, context: this.number, token: message, confidential };
    return (await this.process.ask(request, signal)).token;
  }

  async unwrap(message: Buffer, signal: AbortSignal): Promise<Buffer> {
    return (await this.process.ask({ step: 'unwrap', context: this.number, token: message }, signal)).token;
  }

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.process.ask({ step: 'end', context: this.number }, AbortSignal.timeout(IDLE_MS)).catch(() => undefined);
    this.ended();
  }
}

interface Waiting {
  resolve: (answer: GssAnswer) => void;
  reject: (error: Error) => void;
}

/** A process of `gss-process.cjs`. */
class GssProcess {
  private readonly child: ChildProcess;
  /** In the order of asking, which is that of the answers. */
  private readonly waiting: Waiting[] = [];
  private contexts = 0;
  private fault: MetastoreError | null = null;
  private stderr = '';

  constructor({ conf, keytab }: { conf: string; keytab: Buffer }, onEnd: (ended: GssProcess) => void) {
    const files = [keytab, Buffer.from(conf)].map(nameless);
    try {
      this.child = fork(PROGRAM, [], {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...files],
        serialization: 'advanced',
        // Nothing of the platform's: not its secrets, and no KRB5_* that would lead elsewhere.
        env: { KRB5_CONFIG: `/proc/self/fd/${CONF_FD}`, LC_ALL: 'C' },
        execArgv: ['--max-old-space-size=64'],
      });
    } finally {
      files.forEach(closeSync);
    }
    this.child.on('message', (answer) => this.waiting.shift()?.resolve(answer as GssAnswer));
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

  /** One answer after the other. An end of the signal ends the process: it may be waiting for a KDC. */
  async ask(request: GssRequest, signal: AbortSignal): Promise<{ token: Buffer; complete: boolean }> {
    if (this.fault) throw this.fault;
    signal.throwIfAborted();
    const onAbort = () => this.end(connectionFault('The KDC', signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const { token, complete, error } = await new Promise<GssAnswer>((resolve, reject) => {
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

/** A file that is read by its descriptor only. */
function nameless(content: Buffer): number {
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
  const realm = usualRealm(krb5);
  if (realm === null) {
    throw new MetastoreError(
      'denied',
      `The principal ${principal} has no realm, and krb5.conf names no default_realm.`,
    );
  }
  return `${principal}@${realm}`;
}

function faultOf(error: string, request: GssRequest): MetastoreError {
  const isAway = /cannot contact any kdc|cannot find kdc|resource temporarily unavailable/i.test(error);
  // What the library says of a keytab without the principal's key.
  const isUnknown = request.step === 'begin' && /no credentials cache found|keytab/i.test(error);
  const words = isUnknown ? `The keytab has no usable key of ${request.principal} (${error}).` : error;
  return refusal(isAway ? 'unreachable' : 'denied', 'Kerberos', words, []);
}

function endOf(stderr: string): MetastoreError {
  if (/libgssapi_krb5|cannot open shared object/i.test(stderr)) {
    return new MetastoreError(
      'unsupported',
      'The platform has no Kerberos library. Install libgssapi-krb5-2 where its API runs.',
    );
  }
  return new MetastoreError('failed', 'The login by Kerberos ended before its answer.');
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
