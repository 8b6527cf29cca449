import { apiUrl } from '../../api/client';

/** A state that a record entered, as GET /events sends it. */
export interface LiveEvent {
  kind: EventKind;
  data: {
    job_id?: number;
    notebook_id?: number;
    cluster_id?: number;
    workspace_id?: number;
    conf_id?: number;
  };
}

export interface LiveStream {
  /** Called when events begin or cease to come. Some may have been missed in between. */
  onUp: (isUp: boolean) => void;
  onEvent: (event: LiveEvent) => void;
  /** Called when the server refuses the stream, perhaps because the session has ended. */
  onRefused: () => void;
}

type Message = { is: 'up' | 'down' | 'question' } | { is: 'event'; event: LiveEvent };

const KINDS = ['run', 'notebook', 'cluster', 'node'] as const;
type EventKind = (typeof KINDS)[number];

/** A refused stream is requested again after this time; meanwhile the screens poll. */
const REFUSED_PAUSE_MS = 30_000;

/**
 * Listens to the events of a tenant until the returned function is called. All pages of a browser share one stream, because it
 * opens few connections to a server: the page that holds a lock has the stream and passes on what it says, and the next
 * page gets the lock when that one is gone. Browsers have locks on HTTPS and on localhost only; elsewhere the screens poll.
 * @param name the same for all pages that may share the stream
 */
export function listen(name: string, stream: LiveStream): () => void {
  const ending = new AbortController();
  const channel = new BroadcastChannel(name);
  let isUp = false;
  let isLeading = false;
  const hear = (message: Message) => {
    if (ending.signal.aborted) return;
    if (message.is === 'question') {
      if (isLeading && isUp) channel.postMessage({ is: 'up' } satisfies Message);
    } else if (message.is === 'event') stream.onEvent(message.event);
    else if (isUp !== (message.is === 'up')) {
      isUp = !isUp;
      stream.onUp(isUp);
    }
  };
  const tell = (message: Message) => {
    hear(message);
    if (!ending.signal.aborted) channel.postMessage(message);
  };
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => hear(data));
  channel.postMessage({ is: 'question' } satisfies Message);
  const lead = async () => {
    isLeading = true;
    // The page that led before may have gone without a word.
    tell({ is: 'down' });
    await readStream(tell, stream.onRefused, ending.signal);
  };
  // The request for the lock is refused when it is given up.
  void navigator.locks?.request(name, { signal: ending.signal }, lead).catch(() => undefined);
  return () => {
    ending.abort();
    channel.close();
    if (isUp) stream.onUp(false);
  };
}

/** Tells what the stream says until the signal. The browser itself connects again when a connection is lost. */
async function readStream(tell: (message: Message) => void, onRefused: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const source = new EventSource(apiUrl('/events'));
    await new Promise<void>((resolve) => {
      const close = () => {
        source.close();
        resolve();
      };
      signal.addEventListener('abort', close, { once: true });
      source.addEventListener('open', () => tell({ is: 'up' }));
      source.addEventListener('error', () => {
        tell({ is: 'down' });
        if (source.readyState === EventSource.CLOSED) resolve();
      });
      for (const kind of KINDS) {
        source.addEventListener(kind, ({ data }: MessageEvent<string>) => {
          const { data: changed } = JSON.parse(data) as Pick<LiveEvent, 'data'>;
          tell({ is: 'event', event: { kind, data: changed } });
        });
      }
      // Too much has happened, so everything is read again.
      source.addEventListener('gap', () => {
        tell({ is: 'down' });
        tell({ is: 'up' });
      });
    });
    if (signal.aborted) return;
    onRefused();
    await pause(REFUSED_PAUSE_MS, signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
