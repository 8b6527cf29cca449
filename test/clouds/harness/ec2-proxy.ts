import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, type LoopbackServer, serveOnLoopback } from '../../fakes/http/loopback-server';

/** The fault of a call. */
export type Ec2Fault =
  | { status: number; code: string; message: string }
  /** The call succeeds, and its response is lost. */
  | 'lost'
  /** The call gets no response. */
  | 'hangs'
  /** Machines are not listed yet. */
  | 'unseen'
  /** The response is a page of another server. */
  | 'page'
  /** The call succeeds, and its machines end later for lack of capacity. */
  | 'stillborn'
  /** The call succeeds after its caller has given up. */
  | 'late'
  /** The call succeeds, then this callback runs, and the response is lost. */
  | (() => Promise<void>);

/** Selects the calls of an action that get a fault; by default the next ones. */
export interface Ec2FaultPlace {
  /** Only calls with this access key. */
  key?: string;
  /** Calls without a fault before the first one with. */
  skip?: number;
}

type RefusedCall = Extract<Ec2Fault, { status: number }>;

/** Delay of a late call, milliseconds. */
const LATE_MS = 1_200;

interface Answer {
  status: number;
  text: string;
}

/**
 * Proxy in front of moto (5.2.5) that adds what moto lacks of EC2: client tokens, the limit of tags of a launch, spot
 * interruptions, and scheduled faults. It follows the EC2 API reference: RunInstances (ClientToken), "Ensuring idempotency",
 * "Error codes", and "Tag your resources".
 */
export class Ec2Proxy {
  /** All received calls. */
  readonly calls: URLSearchParams[] = [];
  private readonly tokens = new Map<string, { body: string; answer: Promise<Answer> }>();
  private faults: { action: string; fault: Ec2Fault; key: string | undefined; skip: number }[] = [];
  /** EC2's reasons of machines that ended without a request. */
  private readonly ends = new Map<string, { code: string; message: string }>();
  /** The latest launch whose machines end at once. */
  private stillbirth: Promise<unknown> = Promise.resolve();
  private server: LoopbackServer | null = null;
  private account = FIRST_ACCOUNT;

  private constructor(private readonly moto: string) {}

  static async before(moto: string): Promise<Ec2Proxy> {
    const proxy = new Ec2Proxy(moto);
    proxy.server = await serveOnLoopback((request, response) => void proxy.serve(request, response));
    return proxy;
  }

  get url(): string {
    return this.server?.url ?? '';
  }

  /** Switches to an empty account, because moto gets slow: each call searches all resources that ever existed. */
  nextAccount(): void {
    this.account += 1;
  }

  /** Gives the next calls of this action a fault. */
  fail(action: string, fault: Ec2Fault, times = 1, { key, skip = 0 }: Ec2FaultPlace = {}): void {
    for (let at = 0; at < times; at += 1) this.faults.push({ action, fault, key, skip: at === 0 ? skip : 0 });
  }

  /** Cancels the pending faults of calls with the key. Returns their number. */
  cancelFaults(key: string): number {
    const before = this.faults.length;
    this.faults = this.faults.filter((one) => one.key !== key);
    return before - this.faults.length;
  }

  /** Returns the parameters of all calls of an action. */
  callsOf(action: string): URLSearchParams[] {
    return this.calls.filter((call) => call.get('Action') === action);
  }

  /** Interrupts a spot machine. */
  async interrupt(instanceId: string): Promise<void> {
    const code = 'Server.SpotInstanceTermination';
    this.ends.set(instanceId, { code, message: `${code}: Instance terminated` });
    await this.ask({ Action: 'TerminateInstances', 'InstanceId.1': instanceId });
  }

  /** Calls moto as an administrator would. */
  async ask(parameters: Record<string, string>): Promise<string> {
    const body = new URLSearchParams({ ...parameters, Version: '2016-11-15' }).toString();
    return (await this.forward(body, { 'content-type': 'application/x-www-form-urlencoded' }, SETUP)).text;
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const call = new URLSearchParams(body);
    const action = call.get('Action') ?? '';
    this.calls.push(call);
    const fault = this.faultOf(action, keyOf(request));
    if (fault === 'hangs') return;
    if (fault === 'late') {
      request.socket.destroy();
      await delay(LATE_MS);
    }
    const answer = await this.answer(fault, action, call, body, request);
    if (typeof fault === 'function') await fault();
    if (fault === 'lost' || typeof fault === 'function') request.socket.destroy();
    else response.writeHead(answer.status, { 'content-type': 'text/xml' }).end(answer.text);
  }

  private faultOf(action: string, by: string): Ec2Fault | null {
    const planned = this.faults.find((one) => one.action === action && (one.key === undefined || one.key === by));
    if (!planned) return null;
    if (planned.skip > 0) {
      planned.skip -= 1;
      return null;
    }
    this.faults.splice(this.faults.indexOf(planned), 1);
    return planned.fault;
  }

  private answer(
    fault: Exclude<Ec2Fault, 'hangs'> | null,
    action: string,
    call: URLSearchParams,
    body: string,
    request: IncomingMessage,
  ): Promise<Answer> | Answer {
    if (fault === 'page') return { status: 200, text: '<html><body>Sign in</body></html>' };
    if (fault === 'unseen') return { status: 200, text: NOTHING };
    if (isRefusal(fault)) return errorResponse(fault);
    if (hasTooManyTags(call)) return errorResponse(TOO_MANY_TAGS);
    const token = call.get('ClientToken');
    const work = async () => {
      const answer = await this.forward(body, headersOf(request), request.headers.authorization ?? SETUP);
      if (fault === 'stillborn') await this.endAll(answer);
      return answer;
    };
    if (token !== null) {
      const answer = this.once(`${action} ${token}`, body, work);
      if (fault === 'stillborn') this.stillbirth = Promise.resolve(answer).catch(() => {});
      return answer;
    }
    if (action !== 'DescribeInstances') return work();
    // A machine that never ran must not be seen running, or a node would report from it.
    return this.stillbirth.then(work).then((answer) => this.withReasons(answer));
  }

  /** Runs the work of a client token once. */
  private once(token: string, body: string, work: () => Promise<Answer>): Promise<Answer> | Answer {
    const known = this.tokens.get(token);
    if (known && known.body !== body)
      return errorResponse({
        status: 400,
        code: 'IdempotentParameterMismatch',
        message: 'The request uses the same client token as a previous, but non-identical request.',
      });
    if (known) return known.answer;
    const answer = work();
    this.tokens.set(token, { body, answer });
    // A refused request has created nothing.
    void answer.then(({ status }) => status >= 400 && this.tokens.delete(token));
    return answer;
  }

  /** Ends accepted machines for lack of capacity. */
  private async endAll({ text }: Answer): Promise<void> {
    const code = 'Server.InsufficientInstanceCapacity';
    for (const [, id = ''] of text.matchAll(/<instanceId>([^<]+)<\/instanceId>/g)) {
      this.ends.set(id, { code, message: `${code}: Insufficient capacity to satisfy instance request` });
      await this.ask({ Action: 'TerminateInstances', 'InstanceId.1': id });
    }
  }

  private withReasons({ status, text }: Answer): Answer {
    // moto writes the reason of an instance before its id.
    const items = text.split(/(?<=<\/instanceId>)/).map((item) => {
      const [, id = ''] = /<instanceId>([^<]+)<\/instanceId>$/.exec(item) ?? [];
      const end = this.ends.get(id);
      return end
        ? item
            .replaceAll('Client.UserInitiatedShutdown: User initiated shutdown', end.message)
            .replaceAll('Client.UserInitiatedShutdown', end.code)
        : item;
    });
    return { status, text: items.join('') };
  }

  private async forward(body: string, headers: Record<string, string>, authorization: string): Promise<Answer> {
    const account = { 'x-moto-account-id': String(this.account) };
    const answer = await fetch(this.moto, { method: 'POST', body, headers: { ...headers, ...account, authorization } });
    return { status: answer.status, text: await answer.text() };
  }
}

/** The default account of moto. */
const FIRST_ACCOUNT = 123_456_789_012;

const SETUP = 'AWS4-HMAC-SHA256 Credential=setup/20260101/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=0';

const NOTHING =
  '<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><reservationSet/></DescribeInstancesResponse>';

const MAX_TAGS = 50;
const TOO_MANY_TAGS: RefusedCall = {
  ...{ status: 400, code: 'TagLimitExceeded' },
  message: 'The maximum number of Tags for a resource has been reached.',
};

function hasTooManyTags(call: URLSearchParams): boolean {
  const counts = new Map<string, number>();
  for (const name of call.keys()) {
    const [, resource] = /^TagSpecification\.(\d+)\.Tag\.\d+\.Key$/.exec(name) ?? [];
    if (resource !== undefined) counts.set(resource, (counts.get(resource) ?? 0) + 1);
  }
  return [...counts.values()].some((count) => count > MAX_TAGS);
}

function isRefusal(fault: Ec2Fault | null): fault is RefusedCall {
  return typeof fault === 'object' && fault !== null;
}

function errorResponse({ status, code, message }: RefusedCall): Answer {
  const error = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return {
    status,
    text: `<?xml version="1.0"?><Response><Errors>${error}</Errors><RequestID>r</RequestID></Response>`,
  };
}

/** Returns the access key that signed a call. */
function keyOf({ headers: { authorization = '' } }: IncomingMessage): string {
  return /Credential=([^/]+)\//.exec(authorization)?.[1] ?? '';
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return { 'content-type': headers['content-type'] ?? 'application/x-www-form-urlencoded' };
}
