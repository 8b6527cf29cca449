import { decodeRecords, type NumberedPayload } from '../../libs/contracts/channel-records';
import type { ControlPlane } from '../../libs/node-agent/control-plane';
import { eventually } from './eventually';
import { kernelMessage } from './kernel-messages';

const WAIT_MS = 120_000;

/** A frame of a program that serves a run: a line of JSON, and what follows it. */
export interface Frame {
  op: string;
  state?: string;
  reason?: string | null;
  generation?: number;
  id?: string;
  outcome?: string;
  message?: { msg_type: string; parent_header: { msg_id?: string }; content: Record<string, unknown> };
  body: Buffer;
}

/** The control plane's end of the channel of one run. */
export class ServedRun {
  private readonly requests: NumberedPayload[] = [];
  private readonly frames: Frame[] = [];
  private asked = 0;

  send(request: object, body: string | Buffer = ''): void {
    const payload = Buffer.concat([Buffer.from(`${JSON.stringify(request)}\n`), Buffer.from(body)]);
    this.requests.push({ number: this.requests.length + 1, payload });
  }

  /** Waits for the first frame that the test wants. */
  frame(wanted: (frame: Frame) => boolean | undefined, what: string): Promise<Frame> {
    return eventually(() => this.frames.find(wanted), { timeoutMs: WAIT_MS, everyMs: 5, what });
  }

  /** Calls a function or a SQL server, and returns the body of its answer. */
  async call(body: string | Buffer): Promise<Buffer> {
    const id = `call-${++this.asked}`;
    this.send({ op: 'call', id, timeout_ms: WAIT_MS }, body);
    const answer = await this.frame((frame) => frame.op === 'answer' && frame.id === id, `the answer to ${id}`);
    if (answer.outcome !== 'ok') throw new Error(`The call ended: ${answer.outcome}: ${answer.body.toString()}`);
    return answer.body;
  }

  /** Executes a cell, and returns the value of its last line, or its error. */
  async cell(code: string, generation = 1): Promise<string> {
    const id = `cell-${++this.asked}`;
    this.send({ op: 'message', generation, message: kernelMessage(id, 'execute_request', code) });
    const isOf = ({ message }: Frame, type: string): boolean =>
      message?.msg_type === type && message.parent_header.msg_id === id;
    await this.frame((frame) => isOf(frame, 'execute_reply'), `the reply to ${code}`);
    const result = this.frames.find((frame) => isOf(frame, 'execute_result') || isOf(frame, 'error'));
    const content = (result?.message?.content ?? {}) as {
      data?: Record<string, string>;
      ename?: string;
      evalue?: string;
    };
    return content.data?.['text/plain'] ?? (content.ename ? `${content.ename}: ${content.evalue}` : '');
  }

  async requestsAfter(number: number, signal: AbortSignal): Promise<NumberedPayload[]> {
    while (!signal.aborted && this.requests.length <= number) await new Promise((resolve) => setTimeout(resolve, 5));
    return this.requests.slice(number);
  }

  take(records: Buffer): number {
    for (const { number, payload } of decodeRecords(records)) {
      if (number <= this.frames.length) continue;
      const end = payload.includes('\n') ? payload.indexOf('\n') : payload.length;
      const frame = JSON.parse(payload.subarray(0, end).toString('utf8')) as Frame;
      this.frames.push({ ...frame, body: Buffer.from(payload.subarray(end + 1)) });
    }
    return this.frames.length + 1;
  }
}

/** The channels of all runs of a node without a control plane. */
export class RunChannels {
  private readonly runs = new Map<string, ServedRun>();

  of(runId: string): ServedRun {
    const run = this.runs.get(runId) ?? new ServedRun();
    this.runs.set(runId, run);
    return run;
  }

  /** The calls of a control plane that concern them. */
  readonly calls: Pick<ControlPlane, 'runRequests' | 'sendFrames'> = {
    runRequests: (runId, after, _waitMs, _correlationId, signal) => this.of(runId).requestsAfter(after, signal),
    sendFrames: (runId, records) => Promise.resolve(this.of(runId).take(records)),
  };
}
