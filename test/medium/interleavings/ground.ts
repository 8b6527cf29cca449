import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { SeededRandom } from '../../harness/seeded-random.cjs';
import { rowOf } from '../../samples';
import { REFERENCE } from '../../samples/reference';
import { PlainRows } from '../harness/records';
import type { World } from './world';

/** Ids of the records of a seed; each seed has its own. */
export interface Ground {
  clusterId: number;
  jobConfId: number;
}

const IDS = `SELECT nextval(pg_get_serial_sequence('clusters', 'cluster_id'))::int AS cluster,
  nextval(pg_get_serial_sequence('job_confs', 'job_conf_id'))::int AS job_conf,
  ARRAY[nextval(pg_get_serial_sequence('cluster_nodes', 'node_id')),
    nextval(pg_get_serial_sequence('cluster_nodes', 'node_id'))]::int[] AS nodes`;

/** Creates a running cluster of one or two nodes, with its history, and a job configuration for it. */
export async function makeGround(world: World, random: SeededRandom): Promise<Ground> {
  const { tenantId: tenant_id, workspaceId: workspace_id, cloudEnvId, clusterConfId } = world.tenancy;
  const name = world.name();
  const rows = new PlainRows(world.get(DataSource).manager);
  const [ids] = await world.sql<{ cluster: number; job_conf: number; nodes: number[] }>(IDS);
  if (!ids) throw new Error('The sequences answered nothing');
  const { cluster: cluster_id, job_conf: job_conf_id } = ids;
  const parts = { cloud_env_id: cloudEnvId, cluster_conf_id: clusterConfId };
  const max_parallel_jobs = random.between(1, 2);
  const settings = { command: 'job.py' };
  await rows.add('clusters', {
    ...{ cluster_id, tenant_id, name, status: 'RUNNING', max_parallel_jobs },
    ...rowOf('cluster', parts),
    ...{
      max_instances: random.between(2, 3),
      clean_up_timeout: 0,
      spark_infra_version_id: REFERENCE.spark_infra_version_id,
    },
  });
  const max_concurrency = random.pick([0, 0, 2]);
  await rows.add('job_confs', {
    ...{ job_conf_id, tenant_id, name, settings },
    ...rowOf('job_conf', { cluster_id, workspace_id }),
    ...{ max_concurrency, unfinished_runs: max_concurrency === 0 ? null : 0 },
  });
  const first = { cluster_id, sequence: 1, status: 'RUNNING', start_time: new Date(0) };
  await rows.add('cluster_states', { ...first, node_count: 1 });
  for (const [node_number, node_id] of ids.nodes.slice(random.below(2)).entries()) {
    await rows.add('cluster_nodes', {
      ...{ node_id, tenant_id, cluster_id, node_number, role: 'single', machine_type_id: REFERENCE.machine_type_id },
      ...{ status: 'RUNNING', daemons_state: 'ready', bootstrap_token_hash: randomUUID() },
    });
    await rows.add('node_states', { ...first, node_id });
  }
  await rows.flush();
  return { clusterId: cluster_id, jobConfId: job_conf_id };
}
