import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, type LoopbackServer, serveOnLoopback } from '../../fakes/http/loopback-server';

/** What happens to a call in place of its answer. */
export type Ec2Fault =
  | { status: number; code: string; message: string }
  /** The call is done, and its answer does not arrive. */
  | 'lost'
  /** Nothing ever answers. */
  | 'hangs'
  /** Machines are not shown yet. */
  | 'unseen'
  /** A page that is not EC2's. */
  | 'page'
  /** The call is done, and there is no room for its machines after all. */
  | 'stillborn'
  /** The call is on its way for longer than its caller waits, and done then. */
  | 'late'
  /** The call is done, then this happens, and its answer does not arrive. */
  | (() => Promise<void>);

/** Which of the calls of an action have a fault: the next ones, unless it says more. */
export interface Ec2FaultPlace {
  /** Only calls with this access key. */
  key?: string;
  /** So many calls are spared first. */
  skip?: number;
}

type RefusedCall = Extract<Ec2Fault, { status: number }>;

/** How long a late call is on its way, milliseconds. */
const LATE_MS = 1_200;

interface Answer {
  status: number;
  text: string;
}

/**
 * What moto (5.2.5) lacks of EC2, in front of it: client tokens, the limit of tags in a launch, spot machines that are taken
 * back, and faults by schedule. Written from the EC2 API reference: RunInstances (ClientToken), "Ensuring idempotency", "Error
 * codes", and "Tag your resources".
 */
export class Ec2Proxy {
  /** Every call that arrived, as it was sent. */
  readonly calls: URLSearchParams[] = [];
  private readonly tokens = new Map<string, { body: string; answer: Promise<Answer> }>();
  private faults: { action: string; fault: Ec2Fault; key: string | undefined; skip: number }[] = [];
  /** Why machines ended that nobody ended, in EC2's words. */
  private readonly ends = new Map<string, { code: string; message: string }>();
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

  /** From here on, calls are about an account in which nothing was made yet: moto looks at all that ever was for each. */
  nextAccount(): void {
    this.account += 1;
  }

  /** The next calls of this action have this fault. */
  fail(action: string, fault: Ec2Fault, times = 1, { key, skip = 0 }: Ec2FaultPlace = {}): void {
    for (let at = 0; at < times; at += 1) this.faults.push({ action, fault, key, skip: at === 0 ? skip : 0 });
  }

  /** Faults of calls with the key that have not come are called off; answers how many they were. */
  spare(key: string): number {
    const before = this.faults.length;
    this.faults = this.faults.filter((one) => one.key !== key);
    return before - this.faults.length;
  }

  /** Parameters of the calls of an action. */
  callsOf(action: string): URLSearchParams[] {
    return this.calls.filter((call) => call.get('Action') === action);
  }

  /** EC2 takes a spot machine back. */
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
    if (token !== null) return this.once(`${action} ${token}`, body, work);
    return action === 'DescribeInstances' ? work().then((answer) => this.withReasons(answer)) : work();
  }

  /** Does the work of a token once. */
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
    // A request that was refused has made nothing.
    void answer.then(({ status }) => status >= 400 && this.tokens.delete(token));
    return answer;
  }

  /** Machines that EC2 took on, and has no room for. */
  private async endAll({ text }: Answer): Promise<void> {
    const code = 'Server.InsufficientInstanceCapacity';
    for (const [, id = ''] of text.matchAll(/<instanceId>([^<]+)<\/instanceId>/g)) {
      this.ends.set(id, { code, message: `${code}: Insufficient capacity to satisfy instance request` });
      await this.ask({ Action: 'TerminateInstances', 'InstanceId.1': id });
    }
  }

  private withReasons({ status, text }: Answer): Answer {
    // moto tells the reason of an instance before its id.
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

/** moto's own. */
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

/** The access key that a call is signed with. */
function keyOf({ headers: { authorization = '' } }: IncomingMessage): string {
  return /Credential=([^/]+)\//.exec(authorization)?.[1] ?? '';
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return { 'content-type': headers['content-type'] ?? 'application/x-www-form-urlencoded' };
}
