import { createServer, request as send } from 'node:http';
import { once } from 'node:events';

/**
 * Stands for the API towards agents and passes each request to one of the API processes in turn. While responses are cut, the
 * request goes through and its response does not come back.
 */
export class AgentProxy {
  #turn = 0;
  #cutUntil = 0;
  /** The number of responses that were cut. */
  cut = 0;

  /** @param {readonly string[]} upstreams URLs */
  constructor(upstreams) {
    this.upstreams = upstreams;
    this.server = createServer((incoming, answer) => this.#pass(incoming, answer));
    // Only agents of this machine connect here.
    this.server.requestTimeout = 0;
  }

  /** @param {number} port */
  async listen(port) {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** @param {number} ms */
  cutAnswers(ms) {
    this.#cutUntil = performance.now() + ms;
  }

  async close() {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  /** @param {import('node:http').IncomingMessage} incoming @param {import('node:http').ServerResponse} answer */
  #pass(incoming, answer) {
    this.#turn += 1;
    const base = /** @type {string} */ (this.upstreams[this.#turn % this.upstreams.length]);
    const { method, url, headers } = incoming;
    const outgoing = send(`${base}${url}`, { method, headers }, (received) => {
      if (performance.now() < this.#cutUntil) {
        this.cut += 1;
        received.resume();
        answer.destroy();
        return;
      }
      answer.writeHead(received.statusCode ?? 502, received.headers);
      received.on('error', () => answer.destroy());
      received.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    incoming.on('error', () => outgoing.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }
}
