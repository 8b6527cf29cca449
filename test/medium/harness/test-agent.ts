import { createHash, randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { AGENT_BASE_PATH, type PollResponse, type RegisterResponse } from '../../../libs/contracts/agent-protocol';
import { insertPlain, makeNode, type Tenancy } from './records';
import type { TestApi } from './test-api';

/** Speaks to the API as the agent of a node. */
export class TestAgent {
  private constructor(
    private readonly api: TestApi,
    readonly nodeId: number,
    private readonly baseUrl: string,
    private readonly token: string,
  ) {}

  /** A node of the tenancy's cluster, registered as its agent does it. */
  static async ofNewNode(api: TestApi, tenancy: Tenancy): Promise<TestAgent> {
    const nodeId = await makeNode(api.database.manager, tenancy, 0);
    const bootstrapToken = `bootstrap-${nodeId}`;
    const hash = createHash('sha256').update(bootstrapToken).digest('hex');
    const sql = 'UPDATE cluster_nodes SET bootstrap_token_hash = $2 WHERE node_id = $1';
    await api.database.query(sql, [nodeId, hash]);
    const baseUrl = new URL(AGENT_BASE_PATH, await api.app.getUrl()).href;
    const agent = { agent_id: randomUUID(), hostname: 'node', pid: 1 };
    const { node_token } = await post<RegisterResponse>(`${baseUrl}/register`, bootstrapToken, agent);
    return new TestAgent(api, nodeId, baseUrl, node_token);
  }

  poll(): Promise<PollResponse> {
    return post<PollResponse>(`${this.baseUrl}/poll`, this.token, { version: 0, wait_ms: 0 });
  }

  fetch(path: string): Promise<Response> {
    return fetch(`${this.baseUrl}${path}`, { headers: { authorization: `Bearer ${this.token}` } });
  }

  /** A run of a Python job that is given to the node. */
  async giveRun(tenancy: Tenancy, settings: object = { command: null }): Promise<number> {
    const { manager } = this.api.database;
    const { tenantId: tenant_id, clusterId: cluster_id } = tenancy;
    const run = await insertPlain(manager, 'runs', {
      tenant_id,
      cluster_id,
      workspace_id: tenancy.workspaceId,
      job_conf_id: tenancy.jobConfId,
      node_id: this.nodeId,
      status: 'SUBMITTED',
      workflow_job_instance_id: await executingInstance(manager, tenant_id, cluster_id),
      job_conf_snapshot: { job_conf_id: tenancy.jobConfId, name: 'job', language: 'Python3', settings },
    });
    return Number(run['run_id']);
  }
}

async function executingInstance(manager: EntityManager, tenant_id: string, cluster_id: number): Promise<unknown> {
  const workflow = { tenant_id, workflow_type_id: 0, cluster_id };
  const { workflow_job_id } = await insertPlain(manager, 'workflow_jobs', workflow);
  const instance = await insertPlain(manager, 'workflow_job_instances', { workflow_job_id, state: 'EXECUTING' });
  return instance['workflow_job_instance_id'];
}

async function post<T>(url: string, token: string, body: object): Promise<T> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}
