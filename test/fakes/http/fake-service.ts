import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, type LoopbackServer, serveOnLoopback } from './loopback-server';

export interface FakeServiceOptions {
  /** Delay of each response. */
  latencyMs?: number;
  /** Any free port by default. */
  port?: number;
}

export interface FakeAnswer {
  status: number;
  type: string;
  body: string;
}

/** A stand-in for an HTTP service: it records its requests, and can be made to send any response. */
export abstract class FakeService {
  /** Requests in the order of arrival, as {@link nameOf} writes them. */
  readonly calls: string[] = [];
  private override: RequestListener | null = null;

  protected constructor(
    private readonly server: LoopbackServer,
    private readonly latencyMs = 0,
  ) {}

  /** Serves the fake that `make` creates. Throws if the port is taken. */
  protected static async serve<Fake extends FakeService>(
    make: (server: LoopbackServer) => Fake,
    port?: number,
  ): Promise<Fake> {
    const server = await serveOnLoopback((request, response) => {
      fake.handle(request, response).catch((error: unknown) => response.destroy(error as Error));
    }, port);
    const fake = make(server);
    return fake;
  }

  get url(): string {
    return this.server.url;
  }

  /** Makes the listener answer every request; null restores the service. */
  answerWith(listener: RequestListener | null): void {
    this.override = listener;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Returns the entry of a request in `calls`. */
  protected abstract nameOf(request: IncomingMessage, body: string): string;

  /** Returns the response. An error closes the connection. */
  protected abstract reply(request: IncomingMessage, body: string): FakeAnswer;

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    this.calls.push(this.nameOf(request, text));
    if (this.override) return void this.override(request, response);
    if (this.latencyMs > 0) await delay(this.latencyMs);
    const { status, type, body } = this.reply(request, text);
    response.writeHead(status, { 'Content-Type': type }).end(body);
  }
}
