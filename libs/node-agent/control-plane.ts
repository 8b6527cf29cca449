import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import { pipeline } from 'node:stream/promises';
import {
  AGENT_BASE_PATH,
  CORRELATION_HEADER,
  type FramesResponse,
  type LogChunkResponse,
  type PollRequest,
  type PollResponse,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  type RegisterRequest,
  type RegisterResponse,
  type ReportRequest,
  type RunFileAddress,
} from '../contracts/agent-protocol';
import { decodeRecords, type NumberedPayload } from '../contracts/channel-records';
import { parseTrusted } from '../json/parse-json';

/** An answer of the control plane that is not a success, with what it says. */
export class AnswerError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return this.status >= 500 || this.status === 408 || this.status === 425 || this.status === 429;
  }
}

interface Call {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: string | Buffer;
  type?: string;
  correlationId?: string | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

const CALL_TIMEOUT_MS = 15_000;
/** A fetch that brings nothing for this long is given up. */
const FILE_IDLE_MS = 30_000;

/** Status of an answer to a request that is for another process. */
const MISDIRECTED = 421;

/** The agent's only way out: calls to the control plane over kept connections. */
export class ControlPlane {
  /** The node's token, or the bootstrap token before it has one. */
  token = '';
  /** Time of the last answer, by the monotonic clock; milliseconds. */
  lastContact = performance.now();
  /**
   * When the latest poll or report began that was answered well, by the monotonic clock; milliseconds. The control plane
   * has heard the node since then, so the lease counts from here: an answer itself may be half a minute younger.
   */
  heardAt = performance.now();
  private readonly connections: http.Agent;
  private readonly base: URL;

  constructor(apiUrl: string) {
    this.base = new URL(apiUrl);
    const Connections = this.base.protocol === 'https:' ? https.Agent : http.Agent;
    this.connections = new Connections({ keepAlive: true, keepAliveMsecs: 10_000 });
  }

  close(): void {
    this.connections.destroy();
  }

  register(request: RegisterRequest, signal: AbortSignal): Promise<RegisterResponse> {
    return this.post('/register', request, CALL_TIMEOUT_MS, signal);
  }

  poll(request: PollRequest, signal: AbortSignal): Promise<PollResponse> {
    return this.heard(this.post('/poll', request, request.wait_ms + CALL_TIMEOUT_MS, signal));
  }

  async report(request: ReportRequest, signal: AbortSignal): Promise<void> {
    const send = (report: ReportRequest) => this.heard(this.post('/report', report, CALL_TIMEOUT_MS, signal));
    try {
      await send(request);
    } catch (error) {
      const { daemons, runs } = request;
      const isPlain = Object.keys(request).length === Object.keys({ daemons, runs }).length;
      if (isPlain || !(error instanceof AnswerError) || error.status !== 400) throw error;
      // A control plane of version 1 refuses what it does not know.
      await send({ daemons, runs });
    }
  }

  /** Sends a piece of a log; answers the length that the store holds then. */
  async sendLog(path: string, offset: number, chunk: Buffer, correlationId?: string): Promise<number> {
    const answer = await this.json<LogChunkResponse>({
      method: 'PUT',
      path: `${path}?offset=${offset}`,
      body: chunk,
      type: 'application/octet-stream',
      correlationId,
      timeoutMs: CALL_TIMEOUT_MS,
    });
    return answer.size;
  }

  /** What the process of a run is asked, behind a number; waits for it. */
  async runRequests(
    runId: string,
    after: number,
    waitMs: number,
    correlationId: string,
    signal: AbortSignal,
  ): Promise<NumberedPayload[]> {
    const path = `/runs/${runId}/requests?after=${after}&wait_ms=${waitMs}`;
    const answer = await this.send({
      method: 'GET',
      path,
      correlationId,
      timeoutMs: waitMs + CALL_TIMEOUT_MS,
      signal,
    });
    if (answer.statusCode !== 200) throw await refusal(answer);
    return decodeRecords(await bytesOf(answer));
  }

  /** Sends what the process of a run says, as records; answers the number of the one that is wanted next. */
  async sendFrames(runId: string, records: Buffer, correlationId: string, signal: AbortSignal): Promise<number> {
    const answer = await this.json<FramesResponse>({
      method: 'PUT',
      path: `/runs/${runId}/frames`,
      body: records,
      type: 'application/octet-stream',
      correlationId,
      timeoutMs: CALL_TIMEOUT_MS,
      signal,
    });
    return answer.next;
  }

  /** Fetches a file of a run into `target`, which appears only when it is whole. */
  async fetchFile(
    runId: string,
    { index, key }: RunFileAddress,
    target: string,
    correlationId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const call: Call = {
      method: 'GET',
      path: `/runs/${runId}/files/${index}${key ? `?key=${encodeURIComponent(key)}` : ''}`,
      correlationId,
      timeoutMs: FILE_IDLE_MS,
      signal,
    };
    const answer = await this.send(call);
    if (answer.statusCode !== 200) throw await refusal(answer);
    await pipeline(answer, createWriteStream(`${target}.part`, { mode: 0o600 }), { signal });
    await rename(`${target}.part`, target);
  }

  private async heard<T>(call: Promise<T>): Promise<T> {
    const begun = performance.now();
    const answer = await call;
    this.heardAt = Math.max(this.heardAt, begun);
    return answer;
  }

  private post<T>(path: string, body: object, timeoutMs: number, signal?: AbortSignal): Promise<T> {
    return this.json({ method: 'POST', path, body: JSON.stringify(body), type: 'application/json', timeoutMs, signal });
  }

  private async json<T>(call: Call): Promise<T> {
    const answer = await this.send(call);
    const status = answer.statusCode ?? 0;
    if (status < 200 || status > 299) throw await refusal(answer);
    const text = await textOf(answer);
    return text === '' ? ({} as T) : parseTrusted<T>(text);
  }

  private async send(call: Call): Promise<http.IncomingMessage> {
    const answer = await this.attempt(call);
    // A proxy that answers for an absent control plane, or a process that serves clients only, does not count as contact.
    const status = answer.statusCode ?? 500;
    if (status < 500 && status !== MISDIRECTED) this.lastContact = performance.now();
    return answer;
  }

  private attempt(call: Call, repeated = false): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      const body = call.body ?? '';
      const headers: http.OutgoingHttpHeaders = {
        authorization: `Bearer ${this.token}`,
        [PROTOCOL_HEADER]: String(PROTOCOL_VERSION),
      };
      if (call.method !== 'GET') headers['content-length'] = Buffer.byteLength(body);
      if (call.type !== undefined) headers['content-type'] = call.type;
      if (call.correlationId !== undefined) headers[CORRELATION_HEADER] = call.correlationId;
      const request = (this.base.protocol === 'https:' ? https : http).request(
        {
          agent: this.connections,
          protocol: this.base.protocol,
          hostname: this.base.hostname.replace(/^\[|\]$/g, ''),
          port: this.base.port,
          path: `${this.base.pathname.replace(/\/$/, '')}${AGENT_BASE_PATH}${call.path}`,
          method: call.method,
          headers,
          timeout: call.timeoutMs,
          signal: call.signal,
        },
        resolve,
      );
      request.on('timeout', () =>
        request.destroy(new Error(`No answer from the control plane in ${call.timeoutMs} ms.`)),
      );
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The server may have closed a kept connection just as it was used again; every call can be repeated.
        const stale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        if (stale && !repeated && !call.signal?.aborted) this.attempt(call, true).then(resolve, reject);
        else reject(error);
      });
      request.end(body);
    });
  }
}

async function textOf(answer: http.IncomingMessage): Promise<string> {
  return (await bytesOf(answer)).toString('utf8');
}

async function bytesOf(answer: http.IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function refusal(answer: http.IncomingMessage): Promise<AnswerError> {
  const status = answer.statusCode ?? 0;
  let said = '';
  try {
    const body = parseTrusted<unknown>(await textOf(answer));
    if (typeof body === 'object' && body !== null && 'error_message' in body && typeof body.error_message === 'string')
      said = body.error_message;
  } catch {
    // A proxy's page says no more than its status.
  }
  return new AnswerError(status, said || `The control plane answered ${status}.`);
}
