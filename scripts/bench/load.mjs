// Sends the same GET over kept connections, each the next one as soon as it has the answer, and counts. It speaks HTTP
// by itself: a full client would need as much of the machine as the servers being measured. Its parent tells it what to
// do, and it ends with its parent.
import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * @typedef {object} Load
 * @property {number} port
 * @property {string} path
 * @property {Record<string, string>} headers
 * @property {number} connections
 * @property {number} seconds
 */

/** @param {Load} load @returns {Promise<number>} answers per second */
async function generate({ port, path, headers, connections, seconds }) {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  const started = performance.now();
  const end = started + seconds * 1_000;
  let answers = 0;
  const answered = () => {
    const now = performance.now();
    if (now > end) return false;
    answers += 1;
    return true;
  };
  await Promise.all(Array.from({ length: connections }, () => repeat(port, request, answered)));
  return answers / seconds;
}

/** @param {number} port @param {Buffer} request @param {() => boolean} answered whether to go on */
function repeat(port, request, answered) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let received = Buffer.alloc(0);
    socket.setTimeout(30_000, () => socket.destroy(new Error('An answer did not come within 30 s.')));
    socket.on('connect', () => socket.write(request));
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const headEnd = received.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const head = received.toString('latin1', 0, headEnd);
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
      if (!head.startsWith('HTTP/1.1 200 ') || length === undefined) {
        socket.destroy(new Error(`Answered ${head.split('\r\n', 1)[0]}`));
        return;
      }
      if (received.length < headEnd + HEAD_END.length + Number(length)) return;
      received = Buffer.alloc(0);
      if (answered()) socket.write(request);
      else socket.end();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(undefined));
  });
}

process.on('message', (/** @type {Load} */ load) => {
  generate(load).then(
    (perSecond) => process.send?.({ perSecond }),
    (/** @type {Error} */ error) => process.send?.({ error: error.message }),
  );
});
process.once('disconnect', () => process.exit(0));
