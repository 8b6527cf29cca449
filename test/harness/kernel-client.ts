import { WebSocket } from 'ws';
import { eventually } from './eventually';

/** The fields of a kernel's message that tests use. */
export interface KernelMessage {
  msg_type: string;
  parent_header: { msg_id: string };
  content: {
    status?: string;
    text?: string;
    execution_count?: number;
    ename?: string;
    evalue?: string;
    data?: Record<string, string>;
    matches?: string[];
    found?: boolean;
  };
}

/** A client of a kernel that stores the messages it receives. */
export class KernelTestClient {
  readonly messages: KernelMessage[] = [];
  /** The close code; null while the socket is open. */
  code: number | null = null;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString()) as KernelMessage));
    socket.on('close', (code) => (this.code = code));
    socket.on('error', () => undefined);
  }

  /** Throws if the socket is refused. */
  static async open(url: string, headers: Record<string, string> = {}): Promise<KernelTestClient> {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
    const opened = new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    const client = new KernelTestClient(socket);
    await opened;
    return client;
  }

  execute(msgId: string, code: string): void {
    this.ask(msgId, 'execute_request', { code });
  }

  ask(msgId: string, type: string, content: object): void {
    this.socket.send(JSON.stringify({ header: { msg_id: msgId, msg_type: type }, content }));
  }

  /** Returns the reply to a request of any type once it has arrived. */
  answered(msgId: string): Promise<KernelMessage> {
    const isReply = (one: KernelMessage) => one.msg_type.endsWith('_reply') && one.parent_header.msg_id === msgId;
    return eventually(() => Promise.resolve(this.messages.find(isReply)), {
      timeoutMs: 180_000,
      what: `reply to ${msgId}`,
    });
  }

  replies(msgId: string): KernelMessage[] {
    return this.messages.filter((one) => one.msg_type === 'execute_reply' && one.parent_header.msg_id === msgId);
  }

  /** Returns the first reply to an execution request once it has arrived. */
  replied(msgId: string, timeoutMs = 180_000): Promise<KernelMessage> {
    const what = `a reply to ${msgId}`;
    return eventually(() => Promise.resolve(this.replies(msgId)[0]), { timeoutMs, everyMs: 20, what });
  }

  /** Returns the printed texts, of one request or of all. */
  texts(msgId?: string): string[] {
    const streams = this.messages.filter((one) => one.msg_type === 'stream');
    const asked = streams.filter((one) => msgId === undefined || one.parent_header.msg_id === msgId);
    return asked.map((one) => one.content.text ?? '');
  }

  /** Returns the data that a request showed, by media type. */
  shown(msgId: string) {
    return this.messages
      .filter(({ msg_type: type }) => type === 'execute_result' || type === 'display_data')
      .filter(({ parent_header: parent }) => parent.msg_id === msgId)
      .map(({ content }) => content.data);
  }
}
