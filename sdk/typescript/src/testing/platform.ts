import { BaseClient } from '../client.ts';
import type { Host } from '../host.ts';
import { TokenSession } from '../sessions.ts';
import { type Session, Transport } from '../transport.ts';

export type Answer = Response | Error;

/** A platform in memory, which records requests, and answers what a test says. */
export class TestPlatform {
  readonly requests: Request[] = [];
  readonly bodies: string[] = [];
  answers: Answer[] = [];
  /** Answers every request, in place of the list. */
  handler: ((request: Request) => Answer) | undefined;

  fetch: typeof fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    this.requests.push(request.clone());
    this.bodies.push(await request.text());
    const answer = this.handler ? this.handler(request) : this.answers.shift();
    if (answer === undefined) throw new Error(`No answer is left for ${request.method} ${request.url}`);
    if (answer instanceof Error) throw answer;
    return answer;
  };

  transport(session: Session = new TokenSession('t-1')): Transport {
    return new Transport({ url: 'https://spark.test', session, fetch: this.fetch });
  }

  client(host: Partial<Host> = {}, session?: Session): BaseClient {
    return new BaseClient({ transport: this.transport(session), host: host as Host });
  }

  /** The paths of the requests, without what all of them begin with. */
  get paths(): string[] {
    return this.requests.map(({ url }) => new URL(url).pathname.replace('/api/v1', ''));
  }
}

export function ok(body: unknown = {}, status = 200): Response {
  return Response.json(body, { status });
}

export function page(records: unknown[], next_page?: number): Response {
  return ok({
    data: records,
    result_set: { current_page: 1, total_objects: 0, total_pages: 0, limit: 100, next_page },
  });
}

export function refused(
  status: number,
  error_code: string,
  more: { headers?: Record<string, string>; details?: object } = {},
) {
  const { headers, details = {} } = more;
  return Response.json({ error_code, error_message: 'No.', details, correlation_id: 'c-1' }, { status, headers });
}

/** A connection that broke after the request was sent, or was never made. */
export function broken(code = 'ECONNRESET'): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error('socket'), { code }) });
}

/** Returns the error of what must fail. */
export async function caught(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => new Error('Nothing was thrown.'),
    (error: unknown) => error as Error,
  );
}

/** Makes all pauses of the client end at once; returns their lengths in milliseconds. */
export function withoutPauses(): number[] {
  const taken: number[] = [];
  const real = globalThis.setTimeout;
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((action: () => void, milliseconds = 0) => {
    // The bounds of attempts are longer than any pause, and are not to be reached.
    if (milliseconds >= 30_000) return real(action, milliseconds);
    taken.push(milliseconds);
    return real(action, 0);
  });
  return taken;
}
