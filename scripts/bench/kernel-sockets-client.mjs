// Opens many sockets to a kernel in one process and only counts the messages that they receive. The parent process sends the
// commands; this process ends with its parent.
import { WebSocket } from 'ws';

/** The number of sockets that are opened concurrently. */
const AT_ONCE = 50;
const DEADLINE_MS = 180_000;
const REPLY = Buffer.from('"execute_reply"');

/** @type {{socket: WebSocket, replies: number}[]} */
let open = [];
let closed = 0;
/** @type {() => void} */
let onReply = () => {};

/** @param {string} url @returns {Promise<WebSocket>} */
function connected(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 64 * 1024 ** 2 });
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** @param {{url: string, count: number}} message */
async function connect({ url, count }) {
  while (open.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - open.length) }, () => connected(url));
    for (const socket of await Promise.all(some)) {
      const one = { socket, replies: 0 };
      socket.on('message', (/** @type {Buffer} */ data) => {
        if (!data.includes(REPLY)) return;
        one.replies += 1;
        onReply();
      });
      socket.on('close', () => (closed += 1));
      socket.on('error', () => {});
      open.push(one);
    }
  }
  return {};
}

/**
 * Executes a cell through one of the sockets and returns once all of them have its reply.
 * @param {{id: string, code: string}} message
 */
async function execute({ id, code }) {
  const before = open.map(({ replies }) => replies);
  const began = performance.now();
  open[0]?.socket.send(JSON.stringify({ header: { msg_id: id, msg_type: 'execute_request' }, content: { code } }));
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The cell had no reply in time.')), DEADLINE_MS);
    onReply = () => {
      if (closed > 0) reject(new Error(`${closed} sockets were closed.`));
      if (!open.every(({ replies }, at) => replies > (before[at] ?? 0))) return;
      clearTimeout(timer);
      resolve(undefined);
    };
  });
  return { seconds: (performance.now() - began) / 1000 };
}

/**
 * Executes a cell while one more socket reads nothing. Returns the time until the others had its reply, and until that socket
 * was closed by the platform.
 * @param {{url: string, id: string, code: string}} message
 */
async function ignore({ url, id, code }) {
  const silent = await connected(url);
  silent.pause();
  const began = performance.now();
  const { seconds } = await execute({ id, code });
  // The client notices the close only when it reads on. A reset connection does not even say how it was closed.
  const cut = new Promise((resolve) => silent.once('close', resolve));
  silent.on('error', () => {});
  const { _socket: connection } = /** @type {{_socket: import('node:net').Socket}} */ (/** @type {unknown} */ (silent));
  for (const deadline = performance.now() + DEADLINE_MS; performance.now() < deadline;) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    // A write to a connection that the other side has closed fails.
    if (connection.destroyed || connection.closed) break;
    silent.ping(() => {});
  }
  silent.terminate();
  await cut;
  return { seconds, cut: (performance.now() - began) / 1000 };
}

function disconnect() {
  for (const { socket } of open) {
    socket.removeAllListeners('close');
    socket.terminate();
  }
  open = [];
  return {};
}

const ACTIONS = { connect, execute, ignore, disconnect };

process.on('message', (/** @type {{action: keyof typeof ACTIONS, with: any}} */ message) => {
  Promise.resolve(ACTIONS[message.action](message.with)).then(
    (answer) => process.send?.(answer),
    (/** @type {Error} */ error) => process.send?.({ error: error.message }),
  );
});
process.once('disconnect', () => process.exit(0));
