import { createHash, randomUUID } from 'node:crypto';
import { AGENT_BASE_PATH, type PollResponse, type RegisterResponse } from '../../../libs/contracts/agent-protocol';
import { insertPlain, makeNode, type Tenancy } from './records';
import type { TestApi } from './test-api';

/** Calls the API as the agent of a node. */
export class TestAgent {
  readonly agentId = randomUUID();
  /** The node token; empty until the agent has registered. */
  token = '';

  private constructor(
    private readonly api: TestApi,
    readonly nodeId: number,
    private readonly baseUrl: string,
    readonly bootstrapToken: string,
  ) {}

  /** Adds a node to the tenancy's cluster and registers it as its agent would. */
  static async ofNewNode(api: TestApi, tenancy: Tenancy): Promise<TestAgent> {
    const agent = await TestAgent.unregistered(api, tenancy);
    expect(await agent.register()).toBe(200);
    return agent;
  }

  /** Adds a node that waits for its agent to the tenancy's cluster. */
  static async unregistered(api: TestApi, tenancy: Tenancy, nodeNumber = 0): Promise<TestAgent> {
    return TestAgent.ofNode(api, await makeNode(api.database.manager, tenancy, nodeNumber));
  }

  /** Makes a node wait for its agent. */
  static async ofNode(api: TestApi, nodeId: number): Promise<TestAgent> {
    const bootstrapToken = `bootstrap-${nodeId}`;
    const hash = createHash('sha256').update(bootstrapToken).digest('hex');
    const sql = 'UPDATE cluster_nodes SET bootstrap_token_hash = $2 WHERE node_id = $1';
    await api.database.query(sql, [nodeId, hash]);
    const baseUrl = new URL(AGENT_BASE_PATH, await api.app.getUrl()).href;
    return new TestAgent(api, nodeId, baseUrl, bootstrapToken);
  }

  /** Exchanges the bootstrap token for a node token, which later calls use; returns the HTTP status. */
  async register(agentId: string = this.agentId): Promise<number> {
    const body = { agent_id: agentId, hostname: 'node', pid: 1 };
    const answer = await this.send('POST', '/register', { token: this.bootstrapToken, body });
    if (answer.status === 200) this.token = ((await answer.json()) as RegisterResponse).node_token;
    return answer.status;
  }

  async poll(): Promise<PollResponse> {
    const answer = await this.send('POST', '/poll', { body: { version: 0, wait_ms: 0 } });
    if (answer.status !== 200) throw new Error(`The poll was answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as PollResponse;
  }

  /** The header with the node token. */
  get bearer(): { authorization: string } {
    return { authorization: `Bearer ${this.token}` };
  }

  fetch(path: string): Promise<Response> {
    return this.send('GET', path);
  }

  /** Sends any call of the protocol, with the node token unless another is passed; bytes are sent unchanged. */
  send(
    method: string,
    path: string,
    { token = this.token, body, signal }: { token?: string; body?: object; signal?: AbortSignal } = {},
  ) {
    const isPlain = body instanceof Uint8Array;
    const type = isPlain ? 'application/octet-stream' : 'application/json';
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const content = isPlain ? Buffer.from(body) : body && JSON.stringify(body);
    return fetch(`${this.baseUrl}${path}`, { method, headers, body: content, signal });
  }

  /** Adds a Python run that is assigned to the node. */
  async assignRun(tenancy: Tenancy, settings: object = { command: null }, job_type = 'SPARK_JOB'): Promise<number> {
    const { manager } = this.api.database;
    const { tenantId: tenant_id, clusterId: cluster_id } = tenancy;
    const run = await insertPlain(manager, 'runs', {
      tenant_id,
      cluster_id,
      workspace_id: tenancy.workspaceId,
      job_conf_id: tenancy.jobConfId,
      node_id: this.nodeId,
      status: 'SUBMITTED',
      workflow_job_instance_id: 1,
      job_conf_snapshot: { job_conf_id: tenancy.jobConfId, name: 'job', job_type, language: 'Python3', settings },
    });
    return Number(run['run_id']);
  }
}
