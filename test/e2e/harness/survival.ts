import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { markedProcesses, signal, tryLock } from '../../../libs/node-agent/processes';
import { eventually } from '../../harness/eventually';
import type { Platform } from './platform';

/** Moments at which a worker is killed: before and after a step does its work, and once that is committed. */
export const CRASH_MOMENTS = ['before', 'after', 'committed'] as const;
export type CrashMoment = (typeof CRASH_MOMENTS)[number];

/** Steps of a cluster's workflows. */
export const CLUSTER_STEPS = {
  start: ['plan-nodes', 'provision-nodes', 'await-nodes', 'mark-running'],
  stop: ['announce', 'stop-nodes', 'mark-stopped'],
  'resize-up': ['bring-nodes', 'mark-running'],
  'resize-down': ['bring-nodes', 'mark-running'],
  destroy: ['announce', 'destroy-nodes', 'mark-destroyed'],
} as const;

/** Settings with which the platform detects a dead worker within two seconds instead of half a minute. */
export const QUICK_RECOVERY = {
  WORKFLOW_LEASE_MS: '1500',
  RECONCILE_INTERVAL_MS: '600',
  OUTBOX_POLL_MS: '600',
};

const RECOVERY_MS = 180_000;

export interface NodeFacts {
  node_id: string;
  token: string;
  status: string;
}

export interface NodeProcesses {
  supervisors: number[];
  agents: number[];
  /** Daemons, drivers and all other processes with the node's mark. */
  others: number[];
}

/** Returns the nodes of a cluster that are not destroyed. */
export function nodesOf(platform: Platform, clusterId: number): Promise<NodeFacts[]> {
  return platform.sql<NodeFacts>(
    `SELECT node_id, token::text, status FROM cluster_nodes WHERE cluster_id = $1 AND to_date = 'infinity'
     ORDER BY node_number`,
    [clusterId],
  );
}

/** Returns the only node of a cluster; throws if it has more or none. */
export async function nodeOf(platform: Platform, clusterId: number): Promise<NodeFacts> {
  const [node, ...more] = await nodesOf(platform, clusterId);
  if (!node || more.length > 0) throw new Error(`Cluster ${clusterId} has not one node but ${more.length + 1}`);
  return node;
}

export function nodeDirectory(platform: Platform, token: string): string {
  return join(platform.localDir, token);
}

export function processesOfNode(platform: Platform, token: string): NodeProcesses {
  const found = markedProcesses((nodeDir) => nodeDir === join(nodeDirectory(platform, token), 'data'));
  const isSupervisor = (argv: string[]) => argv.includes('node-supervisor');
  const isAgent = (argv: string[]) => argv.some((word) => word.endsWith('node-agent/main.js')) && !isSupervisor(argv);
  const pids = (matches: (argv: string[]) => boolean) =>
    found.filter(({ argv }) => matches(argv)).map(({ pid }) => pid);
  return {
    supervisors: pids(isSupervisor),
    agents: pids(isAgent),
    others: pids((argv) => !isSupervisor(argv) && !isAgent(argv)),
  };
}

export function kill9(pids: readonly number[]): void {
  for (const pid of pids) signal(pid, 'SIGKILL');
}

/** Keeps the compute driver from touching a node until the returned function is called. */
export async function holdNode(platform: Platform, token: string): Promise<() => Promise<void>> {
  const file = join(platform.localDir, `.${token}.lock`);
  return eventually(() => tryLock(file), { what: `the driver's lock of node ${token}`, everyMs: 5 });
}

/** Waits until the workflow of the cluster's current operation has ended; returns it with its steps. */
export async function endedWorkflow(platform: Platform, clusterId: number, timeoutMs = RECOVERY_MS): Promise<Workflow> {
  const probe = async () => {
    const [instance] = await platform.sql<Workflow>(
      `SELECT i.workflow_job_instance_id AS id, i.state, i.ended_at FROM workflow_job_instances i
       JOIN clusters c ON c.workflow_job_instance_id = i.workflow_job_instance_id WHERE c.cluster_id = $1`,
      [clusterId],
    );
    if (!instance?.ended_at) throw new Error(`the workflow is ${instance?.state ?? 'absent'}`);
    return instance;
  };
  const what = `the end of the workflow of cluster ${clusterId}`;
  const instance = await eventually(probe, { timeoutMs, what });
  const steps = await platform.sql<Workflow['steps'][number]>(
    'SELECT name, outcome, error, ended_at FROM workflow_steps WHERE workflow_job_instance_id = $1 ORDER BY workflow_step_id',
    [instance.id],
  );
  return { ...instance, steps };
}

export interface Workflow {
  id: string;
  state: string;
  ended_at: Date | null;
  steps: { name: string; outcome: string | null; error: string | null; ended_at: Date | null }[];
}

export interface Expectation {
  /** Statuses of the whole history, oldest first; the last one is current. */
  history: string[];
  /** Number of nodes. */
  nodes: number;
  /** True if the nodes' processes run; defaults to true for a RUNNING cluster. */
  live?: boolean;
}

/**
 * Checks the invariants of a cluster at rest after any failure: one set of nodes, of processes and of directories,
 * histories without gaps, and no open workflow, step or outbox row.
 */
export async function expectSound(
  platform: Platform,
  clusterId: number,
  { history, nodes, live = history.at(-1) === 'RUNNING' }: Expectation,
): Promise<void> {
  const states = await historyOf(platform, 'cluster_states', 'cluster_id', clusterId);
  expect(states.map(({ status }) => status)).toEqual(history);
  const found = await nodesOf(platform, clusterId);
  expect(found).toHaveLength(nodes);
  for (const node of found) {
    const ofNode = await historyOf(platform, 'node_states', 'node_id', Number(node.node_id));
    expect(ofNode.at(-1)?.status).toBe(node.status);
    expect(existsSync(nodeDirectory(platform, node.token))).toBe(true);
    const expected = live ? 1 : 0;
    await eventually(
      () => {
        const { supervisors, agents } = processesOfNode(platform, node.token);
        expect({ supervisors: supervisors.length, agents: agents.length }).toEqual({
          supervisors: expected,
          agents: expected,
        });
        return true;
      },
      { what: `${expected} supervisor and agent of node ${node.token}` },
    );
  }
  await expectNothingOpen(platform, clusterId);
}

/** Checks that each directory belongs to a live node, and that each live node has one. */
export async function expectNoStrayNodes(platform: Platform): Promise<void> {
  const rows = await platform.sql<{ token: string }>(
    `SELECT token::text FROM cluster_nodes WHERE to_date = 'infinity' ORDER BY token::text`,
  );
  const tokens = rows.map(({ token }) => token);
  expect((await platform.nodeFolders()).sort()).toEqual(tokens);
  const running = markedProcesses((nodeDir) => nodeDir.startsWith(`${platform.localDir}/`));
  const stray = running.filter(({ nodeDir }) => !tokens.some((token) => nodeDir.includes(token)));
  expect(stray).toEqual([]);
}

interface HistoryEntry {
  status: string;
  reason: string | null;
}

/** The position of an entry in its history. */
interface Placement {
  sequence: number;
  place: string;
  from_status: string | null;
  before: string | null;
  end_time: string;
  next_start: string;
}

/** Returns the history of a subject, oldest first; throws if it has a gap, an overlap or a jump. */
export async function historyOf(
  platform: Platform,
  table: 'cluster_states' | 'node_states' | 'run_states',
  column: 'cluster_id' | 'node_id' | 'run_id',
  id: number,
): Promise<HistoryEntry[]> {
  const entries = await platform.sql<HistoryEntry & Placement>(
    `SELECT status, reason, sequence, row_number() OVER w AS place, from_status, lag(status) OVER w AS before,
       end_time::text, coalesce(lead(start_time) OVER w, 'infinity')::text AS next_start
     FROM ${table} WHERE ${column} = $1 WINDOW w AS (ORDER BY sequence) ORDER BY sequence`,
    [id],
  );
  for (const entry of entries) {
    expect(entry.sequence).toBe(Number(entry.place));
    expect(entry.from_status).toBe(entry.before);
    expect(entry.end_time).toBe(entry.next_start);
  }
  return entries;
}

const OF_CLUSTER = 'j.cluster_id = $1';

/** Checks that no workflow, step or outbox row of the cluster is open, and that each workflow's history ends in its current state. */
async function expectNothingOpen(platform: Platform, clusterId: number): Promise<void> {
  await eventually(
    async () => {
      const [open] = await platform.sql(
        `SELECT
           (SELECT count(*)::int FROM workflow_job_instances i JOIN workflow_jobs j USING (workflow_job_id)
            WHERE ${OF_CLUSTER} AND (i.ended_at IS NULL OR i.to_date = 'infinity' OR i.lease_owner IS NOT NULL
              OR i.due_at IS NOT NULL)) AS workflows,
           (SELECT count(*)::int FROM workflow_steps s JOIN workflow_job_instances i USING (workflow_job_instance_id)
            JOIN workflow_jobs j USING (workflow_job_id) WHERE ${OF_CLUSTER} AND s.ended_at IS NULL) AS steps,
           (SELECT count(*)::int FROM workflow_job_instances i JOIN workflow_jobs j USING (workflow_job_id)
            WHERE ${OF_CLUSTER} AND (SELECT array_agg(s.state) FROM workflow_job_instance_states s
              WHERE s.workflow_job_instance_id = i.workflow_job_instance_id AND s.to_date = 'infinity')
              IS DISTINCT FROM ARRAY[i.state]) AS histories,
           (SELECT count(*)::int FROM outbox_messages WHERE sent_at IS NULL) AS messages`,
        [clusterId],
      );
      expect(open).toEqual({ workflows: 0, steps: 0, histories: 0, messages: 0 });
      return true;
    },
    { timeoutMs: RECOVERY_MS, what: 'an end of everything that was open' },
  );
}
