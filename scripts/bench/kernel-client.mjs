import { WebSocket } from 'ws';

const DEADLINE_MS = 120_000;

/**
 * The result of a cell.
 * @typedef {{ms: number, printed: number}} Executed from the request to its reply, and the number of characters it printed
 */

/** A client of a kernel through the platform. */
export class KernelClient {
  #executions = 0;

  /** @param {WebSocket} socket */
  constructor(socket) {
    this.socket = socket;
    socket.on('error', () => {});
  }

  /** @param {string} url @returns {Promise<KernelClient>} */
  static async open(url) {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return new KernelClient(socket);
  }

  /**
   * Executes a cell; one at a time.
   * @param {string} cell its id
   * @param {string} code
   * @returns {Promise<Executed>}
   */
  execute(cell, code) {
    const { socket } = this;
    const id = `${cell}:${++this.#executions}-${process.pid}`;
    const request = JSON.stringify({ header: { msg_id: id, msg_type: 'execute_request' }, content: { code } });
    return new Promise((resolve, reject) => {
      let printed = 0;
      /** @param {() => void} settle */
      const over = (settle) => {
        clearTimeout(timer);
        socket.off('message', onMessage);
        socket.off('close', onClose);
        settle();
      };
      /** @param {Buffer} data */
      const onMessage = (data) => {
        const { msg_type: type, parent_header: parent, content } = JSON.parse(data.toString());
        if (parent.msg_id !== id) return;
        if (type === 'stream') printed += content.text.length;
        if (type !== 'execute_reply') return;
        const ms = performance.now() - began;
        if (content.status === 'ok') over(() => resolve({ ms, printed }));
        else over(() => reject(new Error(`The cell failed: ${content.ename}: ${content.evalue}`)));
      };
      /** @param {number} code */
      const onClose = (code) => over(() => reject(new Error(`The socket to the kernel was closed with ${code}.`)));
      const timer = setTimeout(() => over(() => reject(new Error('The cell had no reply in time.'))), DEADLINE_MS);
      socket.on('message', onMessage);
      socket.on('close', onClose);
      const began = performance.now();
      socket.send(request);
    });
  }

  close() {
    this.socket.terminate();
  }
}
