import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  AGENT_BASE_PATH,
  type DesiredRun,
  type ObservedDaemons,
  type PollResponse,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  type RegisterResponse,
  type RunReport,
} from '../../../libs/contracts/agent-protocol';
import type { RoomMachine } from './machine-room';

/** Interval between two lookups of the provider's machines, milliseconds. */
const INTERVAL_MS = 200;
/** Longest poll. A released run is noticed within this time. */
const POLL_MS = 500;
const AGAIN_MS = 200;

interface Agent {
  boots: number;
  end: AbortController;
  done: Promise<void>;
}

/**
 * Calls the API like the agents of machines, from their user data on, but executes nothing, because tests of machines need no
 * Spark. Runs start at once and end when the test releases them.
 */
export class StandInAgents {
  private readonly agents = new Map<string, Agent>();
  /** Node tokens by machine, which an agent keeps on its disk. */
  private readonly tokens = new Map<string, string>();
  private readonly opened = new Set<string>();
  private readonly stopping = new AbortController();
  private looking: Promise<void> | null = null;

  constructor(private readonly list: () => Promise<readonly RoomMachine[]>) {}

  /** Follows the machines until {@link close}. */
  open(): this {
    this.looking = this.follow();
    return this;
  }

  async close(): Promise<void> {
    this.stopping.abort();
    await this.looking;
    for (const id of [...this.agents.keys()]) await this.end(id);
  }

  /** Lets runs of the job end from now on. */
  openGate(jobName: string): void {
    this.opened.add(jobName);
  }

  private async follow(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      // While the provider does not respond, its machines are unchanged.
      const machines = await this.list().catch(() => null);
      if (machines) await this.match(machines);
      await delay(INTERVAL_MS);
    }
  }

  private async match(machines: readonly RoomMachine[]): Promise<void> {
    const up = new Map(machines.filter(({ state }) => state === 'running').map((machine) => [machine.id, machine]));
    for (const [id, { boots }] of [...this.agents]) if (up.get(id)?.boots !== boots) await this.end(id);
    for (const [id, machine] of up) {
      if (this.agents.has(id)) continue;
      const end = new AbortController();
      this.agents.set(id, { boots: machine.boots, end, done: this.live(machine, end.signal) });
    }
  }

  private async end(id: string): Promise<void> {
    const agent = this.agents.get(id);
    agent?.end.abort();
    await agent?.done;
    this.agents.delete(id);
  }

  /** Runs until the machine ends. Retries refused calls, as agents do. */
  private async live({ id, userData }: RoomMachine, signal: AbortSignal): Promise<void> {
    const node = new StandInNode(userData, signal, this.opened);
    while (!signal.aborted) {
      try {
        const token = this.tokens.get(id) ?? (await node.register());
        this.tokens.set(id, token);
        await node.serve(token);
      } catch {
        await delay(AGAIN_MS);
      }
    }
  }
}

/** One boot of a node. */
class StandInNode {
  private readonly agentId = randomUUID();
  private readonly runs = new Map<string, RunReport>();
  /** Rejects when the machine ends. The signal of the request alone does not suffice, because a wait for an agent outlasts it. */
  private readonly ended: Promise<never>;

  constructor(
    private readonly userData: string,
    private readonly signal: AbortSignal,
    private readonly opened: ReadonlySet<string>,
  ) {
    this.ended = once(signal, 'abort').then(() => Promise.reject(new Error('Its machine has ended.')));
    this.ended.catch(() => {});
  }

  async register(): Promise<string> {
    const body = { agent_id: this.agentId, hostname: 'stand-in', pid: 1 };
    const token = settingOf(this.userData, 'TOKEN');
    return (await this.send<RegisterResponse>('/register', token, body)).node_token;
  }

  async serve(token: string): Promise<void> {
    let version = 0;
    let reported: string | null = null;
    for (;;) {
      const answer: PollResponse = await this.send('/poll', token, { version, wait_ms: POLL_MS });
      version = answer.version;
      for (const run of answer.runs) this.note(run);
      const runs = [...this.runs.values()];
      const isBusy = runs.some(({ state }) => state !== 'ended');
      const report = { daemons: daemonsOf(answer), runs, ...(answer.drain && !isBusy ? { drained: true } : {}) };
      const said = JSON.stringify(report);
      if (said !== reported) await this.send('/report', token, report);
      reported = said;
    }
  }

  private note({ run_id, action, spec }: DesiredRun): void {
    const before = this.runs.get(run_id);
    if (before?.state === 'ended') return;
    const stops = action === 'stop';
    const ends = stops || this.opened.has(spec.name);
    if (before && !ends) return;
    this.runs.set(run_id, {
      ...{ run_id, seq: (before?.seq ?? 0) + 1, state: ends ? 'ended' : 'running', application_id: null },
      ...{ outcome: ends ? (stops ? 'stopped' : 'done') : null, reason: null, message: null },
      ...{ exit_code: null, pid: 1, at: new Date().toISOString() },
    });
  }

  private send<T>(path: string, token: string, body: object): Promise<T> {
    return Promise.race([this.ask<T>(path, token, body), this.ended]);
  }

  private async ask<T>(path: string, token: string, body: object): Promise<T> {
    const answer = await fetch(`${settingOf(this.userData, 'API')}${AGENT_BASE_PATH}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        [PROTOCOL_HEADER]: String(PROTOCOL_VERSION),
      },
      body: JSON.stringify(body),
      signal: this.signal,
    });
    if (!answer.ok) throw new Error(`${path} is answered ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }
}

function daemonsOf({ daemons: { role } }: PollResponse): ObservedDaemons {
  const hasMaster = role === 'master' || role === 'master-and-workers';
  return { state: 'ready', master_url: hasMaster ? 'spark://127.0.0.1:7077' : null, error: null };
}

/** Reads a setting at the top of a boot script. */
function settingOf(userData: string, name: string): string {
  const value = new RegExp(`^${name}='([^']*)'$`, 'm').exec(userData)?.[1];
  if (value === undefined) throw new Error(`The user data has no ${name}`);
  return value;
}
