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
  type RunReport,
} from '../contracts/agent-protocol';
import { decodeRecords, type NumberedPayload } from '../contracts/channel-records';
import { parseTrusted } from '../json/parse-json';

/** A response of the control plane that is not a success. The message is the response's. */
export class ResponseError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }

  /** True if the same request may succeed later. */
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
/** A download that receives no bytes for this long fails. */
const FILE_IDLE_TIMEOUT_MS = 30_000;

/** Response status for a request that another process must serve. */
const MISDIRECTED = 421;

/** The agent's only connection to the outside: calls to the control plane over persistent connections. */
export class ControlPlane {
  /** The node's token, or the bootstrap token until the node has one. */
  token = '';
  /** Time of the last response, by the monotonic clock; milliseconds. */
  lastContact = performance.now();
  /**
   * Time at which the latest successful poll or report was sent, by the monotonic clock; milliseconds. The lease counts from here,
   * because the control plane knows of the node since then: the response itself may arrive half a minute later.
   */
  leaseStartedAt = performance.now();
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
    return this.renewLease(this.post('/poll', request, request.wait_ms + CALL_TIMEOUT_MS, signal));
  }

  async report(request: ReportRequest, signal: AbortSignal): Promise<void> {
    const send = (report: ReportRequest) => this.renewLease(this.post('/report', report, CALL_TIMEOUT_MS, signal));
    try {
      await send(request);
    } catch (error) {
      // A control plane of version 1 refuses fields that it does not know.
      const plain = { daemons: request.daemons, runs: request.runs.map(plainReport) };
      const isPlain = JSON.stringify(plain) === JSON.stringify(request);
      if (isPlain || !(error instanceof ResponseError) || error.status !== 400) throw error;
      await send(plain);
    }
  }

  /** Sends a chunk of a log. Returns the length of the stored log. */
  async sendLog(path: string, offset: number, chunk: Buffer, correlationId?: string): Promise<number> {
    const response = await this.json<LogChunkResponse>({
      method: 'PUT',
      path: `${path}?offset=${offset}`,
      body: chunk,
      type: 'application/octet-stream',
      correlationId,
      timeoutMs: CALL_TIMEOUT_MS,
    });
    return response.size;
  }

  /** Waits for the requests to the process of a run that follow the record `after`. */
  async runRequests(
    runId: string,
    after: number,
    waitMs: number,
    correlationId: string,
    signal: AbortSignal,
  ): Promise<NumberedPayload[]> {
    const path = `/runs/${runId}/requests?after=${after}&wait_ms=${waitMs}`;
    const response = await this.send({
      method: 'GET',
      path,
      correlationId,
      timeoutMs: waitMs + CALL_TIMEOUT_MS,
      signal,
    });
    if (response.statusCode !== 200) throw await errorOf(response);
    return decodeRecords(await bytesOf(response));
  }

  /** Sends the frames of a run's process, as records. Returns the number of the record that the control plane expects next. */
  async sendFrames(runId: string, records: Buffer, correlationId: string, signal: AbortSignal): Promise<number> {
    const response = await this.json<FramesResponse>({
      method: 'PUT',
      path: `/runs/${runId}/frames`,
      body: records,
      type: 'application/octet-stream',
      correlationId,
      timeoutMs: CALL_TIMEOUT_MS,
      signal,
    });
    return response.next;
  }

  /** Fetches a file of a run into `target`, which appears only once the file is complete. */
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
      timeoutMs: FILE_IDLE_TIMEOUT_MS,
      signal,
    };
    const response = await this.send(call);
    if (response.statusCode !== 200) throw await errorOf(response);
    await pipeline(response, createWriteStream(`${target}.part`, { mode: 0o600 }), { signal });
    await rename(`${target}.part`, target);
  }

  private async renewLease<T>(call: Promise<T>): Promise<T> {
    const sentAt = performance.now();
    const response = await call;
    this.leaseStartedAt = Math.max(this.leaseStartedAt, sentAt);
    return response;
  }

  private post<T>(path: string, body: object, timeoutMs: number, signal?: AbortSignal): Promise<T> {
    return this.json({ method: 'POST', path, body: JSON.stringify(body), type: 'application/json', timeoutMs, signal });
  }

  private async json<T>(call: Call): Promise<T> {
    const response = await this.send(call);
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) throw await errorOf(response);
    const text = await textOf(response);
    return text === '' ? ({} as T) : parseTrusted<T>(text);
  }

  private async send(call: Call): Promise<http.IncomingMessage> {
    const response = await this.attempt(call);
    // A proxy that responds for an absent control plane, or a process that only serves clients, does not count as contact.
    const status = response.statusCode ?? 500;
    if (status < 500 && status !== MISDIRECTED) this.lastContact = performance.now();
    return response;
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
        request.destroy(new Error(`The control plane did not respond within ${call.timeoutMs} ms.`)),
      );
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The server may have closed an idle connection just as it was used again. Every call can be repeated.
        const stale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        if (stale && !repeated && !call.signal?.aborted) this.attempt(call, true).then(resolve, reject);
        else reject(error);
      });
      request.end(body);
    });
  }
}

/** Returns a report without the fields about memory, which a control plane of version 1 refuses. */
function plainReport(report: RunReport): RunReport {
  const { requested_memory_mb: _requested, peak_memory_mb: _peak, ...plain } = report;
  return plain;
}

async function textOf(response: http.IncomingMessage): Promise<string> {
  return (await bytesOf(response)).toString('utf8');
}

async function bytesOf(response: http.IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function errorOf(response: http.IncomingMessage): Promise<ResponseError> {
  const status = response.statusCode ?? 0;
  let message = '';
  try {
    const body = parseTrusted<unknown>(await textOf(response));
    if (typeof body === 'object' && body !== null && 'error_message' in body && typeof body.error_message === 'string')
      message = body.error_message;
  } catch {
    // The body is not JSON, such as a proxy's page, so the status has to do.
  }
  return new ResponseError(status, message || `The control plane responded with status ${status}.`);
}
