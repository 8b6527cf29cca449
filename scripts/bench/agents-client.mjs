// Simulates the agents of many nodes, and the client that submits runs to them, in one process. It speaks the agents'
// protocol itself, because full agents would need more of the machine than the control plane being measured. The parent
// process sends the commands; this process ends with its parent.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const HEAD_END = Buffer.from('\r\n\r\n');
const POLL_WAIT_MS = 25_000;
const TIMEOUT_MS = 60_000;
const RETRY_MS = { first: 100, longest: 2_000 };
/** Interval between two state reports of a run. */
const STEP_MS = 500;
const READY = { state: 'ready', master_url: null, error: null };

/** Returns the time of the machine's clock, which PostgreSQL uses too, in milliseconds with fractions. */
const now = () => performance.timeOrigin + performance.now();

/** One kept connection, which carries one request at a time. */
class Connection {
  /** @type {import('node:net').Socket | null} */
  #socket = null;
  /** @type {Buffer} */
  #received = Buffer.alloc(0);
  /** @type {{resolve: (body: string) => void, reject: (error: Error) => void} | null} */
  #waiting = null;
  #head;

  /** @param {number} port @param {string} token */
  constructor(port, token) {
    this.port = port;
    this.#head = `host: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n`;
  }

  /** @param {string} path @param {string} body @param {string} [headers] @returns {Promise<string>} the answer's body */
  post(path, body, headers = '') {
    const length = Buffer.byteLength(body);
    const request = `POST ${path} HTTP/1.1\r\n${this.#head}${headers}content-length: ${length}\r\n\r\n${body}`;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#open().write(request);
    });
  }

  close() {
    this.#socket?.destroy();
  }

  #open() {
    if (this.#socket && !this.#socket.destroyed) return this.#socket;
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true });
    this.#received = Buffer.alloc(0);
    socket.setTimeout(TIMEOUT_MS, () => {
      if (this.#waiting) socket.destroy(new Error(`An answer did not come within ${TIMEOUT_MS / 1_000} s.`));
    });
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', (error) => this.#settle(socket, error));
    socket.on('close', () => this.#settle(socket, new Error('The connection was closed.')));
    this.#socket = socket;
    return socket;
  }

  /** @param {Buffer} chunk */
  #take(chunk) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    const begin = headEnd + HEAD_END.length;
    if (!(this.#received.length >= begin + length)) return;
    const body = this.#received.toString('utf8', begin, begin + length);
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = null;
    if (/^HTTP\/1\.1 20\d /.test(head)) waiting?.resolve(body);
    else waiting?.reject(new Error(`Answered ${head.split('\r\n', 1)[0]} ${body.slice(0, 300)}`));
  }

  /** @param {import('node:net').Socket} socket @param {Error} error */
  #settle(socket, error) {
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}

/** @typedef {{correlationId: string, at: number}} Arrival when an agent had the run in hand, milliseconds since the epoch */

const USED = { average: 1_000, max: 2_000 };
const UTILIZATION = { utilization: { millicores: USED, memory_mb: USED, disk_mb: { ...USED, total: 100_000 } } };

/** Simulates one node's agent: it polls, and reports each run to its end unless runs are to be held. */
class SimulatedAgent {
  version = 0;
  takesUtilization = false;
  /** @type {Map<string, number>} sequence number of the last report by run */
  runs = new Map();
  stopped = false;

  /** @param {number} port @param {[number, string]} node id and token @param {(arrival: Arrival) => void} arrived @param {() => boolean} holds */
  constructor(port, [nodeId, token], arrived, holds) {
    this.nodeId = nodeId;
    this.polls = new Connection(port, token);
    this.reports = new Connection(port, token);
    this.arrived = arrived;
    this.holds = holds;
    /** @type {Promise<unknown>} */
    this.reported = Promise.resolve();
  }

  /** @param {() => void} onAnswer called for each response */
  async work(onAnswer) {
    let wait = RETRY_MS.first;
    while (!this.stopped) {
      try {
        const used = this.takesUtilization ? UTILIZATION : {};
        const body = JSON.stringify({ version: this.version, wait_ms: POLL_WAIT_MS, ...used });
        const answer = JSON.parse(await this.polls.post('/agent/v1/poll', body));
        this.takesUtilization = answer.takes_utilization === true;
        this.apply(answer, now());
        onAnswer();
        wait = RETRY_MS.first;
      } catch (error) {
        if (this.stopped) return;
        failures.note(/** @type {Error} */ (error));
        await delay((wait * (1 + Math.random())) / 2);
        wait = Math.min(RETRY_MS.longest, wait * 2);
      }
    }
  }

  /** @param {import('../../libs/contracts/agent-protocol.js').PollResponse} answer @param {number} at */
  apply({ version, runs }, at) {
    this.version = version;
    const wanted = new Set(runs.map(({ run_id }) => run_id));
    for (const id of this.runs.keys()) if (!wanted.has(id)) this.runs.delete(id);
    for (const { run_id: id, correlation_id: correlationId } of runs) {
      if (this.runs.has(id)) continue;
      this.runs.set(id, 0);
      this.arrived({ correlationId, at });
      if (!this.holds()) void this.live(id);
    }
  }

  /** @param {string} id of a run */
  async live(id) {
    await this.report(id, { state: 'accepted' });
    await delay(STEP_MS);
    await this.report(id, { state: 'running', pid: 1, application_id: `app-${id}` });
    await delay(STEP_MS);
    await this.end(id);
  }

  /** @param {string} id of a run */
  end(id) {
    return this.report(id, { state: 'ended', outcome: 'done', reason: 'COMPLETED', message: 'Done.', exit_code: 0 });
  }

  /** @param {string} id @param {object} what */
  report(id, what) {
    const seq = (this.runs.get(id) ?? 0) + 1;
    this.runs.set(id, seq);
    const none = { application_id: null, outcome: null, reason: null, message: null, exit_code: null, pid: null };
    const run = { run_id: id, seq, at: new Date().toISOString(), ...none, ...what };
    this.reported = this.reported.then(() => this.send(JSON.stringify({ daemons: READY, runs: [run] })));
    return this.reported;
  }

  /** @param {string} body */
  async send(body) {
    let wait = RETRY_MS.first;
    while (!this.stopped) {
      try {
        await this.reports.post('/agent/v1/report', body);
        return;
      } catch (error) {
        failures.note(/** @type {Error} */ (error));
        await delay((wait * (1 + Math.random())) / 2);
        wait = Math.min(RETRY_MS.longest, wait * 2);
      }
    }
  }

  stop() {
    this.stopped = true;
    this.polls.close();
    this.reports.close();
  }
}

/** Counts failures and keeps the first message, which says most. */
const failures = {
  count: 0,
  first: '',
  /** @param {Error} error */
  note(error) {
    if (this.count === 0) this.first = error.message;
    this.count += 1;
  },
};

/**
 * @typedef {object} Submissions
 * @property {number} port of the API of clients
 * @property {string} path of the jobs
 * @property {string} token of the user who submits the runs
 * @property {number[]} jobConfIds sent in turn
 * @property {number} perSecond
 * @property {number} seconds
 * @property {boolean} hold whether the agents keep the runs instead of ending them
 * @property {string} name begins the correlation ids
 */

/** @type {SimulatedAgent[]} */
let agents = [];
/** @type {Map<string, number>} */
const arrivals = new Map();
let isHolding = false;
/** @type {(arrival: Arrival) => void} */
let onArrival = () => {};

/** Starts the agents and returns once each has its first response. @param {{port: number, nodes: [number, string][]}} nodes */
async function start({ port, nodes }) {
  for (const agent of agents) agent.stop();
  /** @param {Arrival} arrival */
  const arrived = (arrival) => {
    arrivals.set(arrival.correlationId, arrival.at);
    onArrival(arrival);
  };
  agents = nodes.map((node) => new SimulatedAgent(port, node, arrived, () => isHolding));
  await Promise.all(agents.map((agent) => new Promise((resolve) => void agent.work(() => resolve(undefined)))));
  return { agents: agents.length };
}

/**
 * Submits runs at a fixed rate, however long each request takes. Returns when each run reached its agent and when the request
 * for it was answered.
 * @param {Submissions} submissions
 */
async function submit({ port, path, token, jobConfIds, perSecond, seconds, hold, name }) {
  isHolding = hold;
  arrivals.clear();
  failures.count = 0;
  /** @type {Connection[]} */
  const idle = [];
  let refused = 0;
  /** @type {[string, number][]} */
  const answered = [];
  /** @param {number} number */
  const one = async (number) => {
    const connection = idle.pop() ?? new Connection(port, token);
    const body = JSON.stringify({ job_conf_id: jobConfIds[number % jobConfIds.length] });
    const send = () => connection.post(path, body, `x-correlation-id: ${name}-${number}\r\n`);
    for (let wait = RETRY_MS.first; ; wait *= 2) {
      try {
        await send();
        answered.push([`${name}-${number}`, now()]);
        break;
      } catch (error) {
        failures.note(/** @type {Error} */ (error));
        if (wait > RETRY_MS.longest) {
          refused += 1;
          break;
        }
        await delay(wait);
      }
    }
    idle.push(connection);
  };
  const sent = [];
  const begun = performance.now();
  for (let number = 0; number < perSecond * seconds; number += 1) {
    await delay(Math.max(0, begun + (number * 1_000) / perSecond - performance.now()));
    sent.push(one(number));
  }
  await Promise.all(sent);
  const deadline = performance.now() + TIMEOUT_MS / 4;
  while (arrivals.size < sent.length - refused && performance.now() < deadline) await delay(20);
  for (const connection of idle) connection.close();
  const answer = {
    sent: sent.length,
    refused,
    arrivals: [...arrivals],
    answered,
    failures: failures.count,
    first: failures.first,
  };
  arrivals.clear();
  return answer;
}

/** Ends one run of a node that has runs. Returns the milliseconds until a node received the next run. */
async function free() {
  isHolding = true;
  const agent = agents.find(({ runs }) => runs.size > 0);
  const [id] = agent?.runs.keys() ?? [];
  if (!agent || id === undefined) throw new Error('No node has a run that could end.');
  const begun = now();
  /** @type {Promise<Arrival>} */
  const next = new Promise((resolve, reject) => {
    onArrival = resolve;
    setTimeout(() => reject(new Error('No run followed the one that ended.')), TIMEOUT_MS / 2).unref();
  });
  await agent.end(id);
  const { at } = await next;
  onArrival = () => {};
  return { ms: at - begun };
}

const ACTIONS = { start, submit, free };

process.on('message', (/** @type {{action: keyof typeof ACTIONS, with?: any}} */ message) => {
  Promise.resolve(ACTIONS[message.action](message.with)).then(
    (answer) => process.send?.(answer),
    (/** @type {Error} */ error) => process.send?.({ error: error.message }),
  );
});
process.once('disconnect', () => process.exit(0));
