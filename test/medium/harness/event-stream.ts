import { request, type IncomingMessage } from 'node:http';
import { eventually } from '../../harness/eventually';
import type { TestApi } from './test-api';

export interface ReceivedEvent {
  event: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a document that each test gives its own shape
  data: any;
}

/** A client of `GET /events`. */
export class EventStream {
  readonly events: ReceivedEvent[] = [];
  lastId: string | null = null;
  isClosed = false;
  private rest = '';

  private constructor(
    readonly response: IncomingMessage,
    private readonly close_: () => void,
  ) {
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.read(text));
    response.once('close', () => (this.isClosed = true));
    response.on('error', () => undefined);
  }

  static async open(
    api: TestApi,
    token: string,
    { query = '', lastEventId }: { query?: string; lastEventId?: string } = {},
  ): Promise<EventStream> {
    const sent = request(api.urlOf(`/events?${query}`), {
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
    });
    sent.on('error', () => undefined).end();
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve).once('error', reject);
    });
    return new EventStream(response, () => sent.destroy());
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  /** Waits until the stream has its position, so that later events reach it. */
  async ready(): Promise<this> {
    await eventually(() => this.lastId !== null, { what: 'the first position of a stream of events' });
    return this;
  }

  /** Waits until there are so many events, and returns them. */
  async received(count: number): Promise<ReceivedEvent[]> {
    await eventually(() => this.events.length >= count, { what: `${count} events` });
    return this.events;
  }

  close(): void {
    this.close_();
  }

  private read(text: string): void {
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      this.lastId = fields.get('id') ?? this.lastId;
      const data = fields.get('data');
      if (data !== undefined) this.events.push({ event: fields.get('event') ?? 'message', data: JSON.parse(data) });
    }
  }
}
