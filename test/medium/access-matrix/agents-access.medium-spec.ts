import { randomUUID } from 'node:crypto';
import type { OperationOptions } from '../../../src/platform/http/operation-options';
import { type Access, isForNodes } from '../../../src/platform/kernel/auth/access';
import { ClusterNodesRepository } from '../../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { ClusterNodesService } from '../../../src/modules/execution/clusters/nodes/cluster-nodes.service';
import { makeTenancy, type Tenancy } from '../harness/records';
import { setNodeStatus } from '../harness/statuses';
import { TestAgent } from '../harness/test-agent';
import { wholeApi, type TestApi } from '../harness/test-api';
import { readExpectedAccess } from './expected-access';
import { Declarations, wideningsOf } from './mutations';

/** The credentials of a call of an agent's operation, and the records that it names. */
interface Call {
  token: string | null;
  /** The agent id that the call sends. */
  agentId: string;
  /** A run of the node of the records. */
  runId: number;
}

/** The responses to a caller from operations of nodes, from those about a run of the node and from the registration. */
interface Verdicts {
  node: Verdict;
  ofRun: Verdict;
  bootstrap: Verdict;
}
type Verdict = 'admitted' | 401 | 404 | 410;

interface Caller extends Verdicts {
  name: string;
  /** True if the node has a registered agent, which may still use the bootstrap token. */
  isRegistered?: true;
  token: (world: World) => Promise<string | null>;
}

const REFUSED: Verdicts = { node: 401, ofRun: 401, bootstrap: 401 };
const WAITING: Verdicts = { ...REFUSED, bootstrap: 'admitted' };

const CALLERS: Caller[] = [
  {
    ...{ name: 'the node', node: 'admitted', ofRun: 'admitted', bootstrap: 401 },
    token: ({ agent }) => Promise.resolve(agent.token),
  },
  {
    ...{ name: 'another node of its cluster', node: 'admitted', ofRun: 404, bootstrap: 401 },
    token: async (world) => (await registered(world, world.own)).token,
  },
  {
    ...{ name: "a node of another tenant's", node: 'admitted', ofRun: 404, bootstrap: 401 },
    token: async (world) => (await registered(world, world.foreign)).token,
  },
  {
    ...{ name: 'the node, destroyed', node: 410, ofRun: 410, bootstrap: 401 },
    token: async ({ api, agent }) => {
      await setNodeStatus(api.database.manager, agent.nodeId, 'DESTROYED');
      return agent.token;
    },
  },
  {
    ...{ name: 'a token of the node before its last registration', ...REFUSED },
    token: async ({ agent }) => {
      const { token } = agent;
      await agent.register();
      return token;
    },
  },
  {
    ...{ name: "the node's number with another secret", ...REFUSED },
    token: ({ agent }) => Promise.resolve(`${agent.nodeId}.${randomUUID()}`),
  },
  {
    ...{ name: 'a fresh bootstrap token', ...WAITING },
    token: async ({ api, own }) => (await TestAgent.unregistered(api, own, nextNumber())).bootstrapToken,
  },
  {
    ...{ name: 'the bootstrap token, its answer lost', ...WAITING, isRegistered: true },
    token: ({ agent }) => Promise.resolve(agent.bootstrapToken),
  },
  {
    ...{ name: 'a bootstrap token that another agent has used', ...REFUSED },
    token: async (world) => (await registered(world, world.own)).bootstrapToken,
  },
  {
    ...{ name: 'the bootstrap token, spent', ...REFUSED },
    token: async ({ agent }) => {
      await agent.poll();
      return agent.bootstrapToken;
    },
  },
  {
    ...{ name: 'the bootstrap token of a destroyed node', ...REFUSED },
    token: async ({ api, own }) => {
      const agent = await TestAgent.unregistered(api, own, nextNumber());
      await setNodeStatus(api.database.manager, agent.nodeId, 'DESTROYED');
      return agent.bootstrapToken;
    },
  },
  { name: 'PLATFORM ADMIN', ...REFUSED, token: ({ adminToken }) => Promise.resolve(adminToken) },
  { name: 'nobody', ...REFUSED, token: () => Promise.resolve(null) },
  { name: 'nonsense', ...REFUSED, token: () => Promise.resolve('nonsense') },
];

/** The API and the records of one call. Each call gets its own, because some calls change them. */
interface World {
  api: TestApi;
  own: Tenancy;
  foreign: Tenancy;
  adminToken: string;
  agent: TestAgent;
}

let numbers = 0;
const nextNumber = () => ++numbers;

async function registered({ api }: World, tenancy: Tenancy): Promise<TestAgent> {
  const agent = await TestAgent.unregistered(api, tenancy, nextNumber());
  expect(await agent.register()).toBe(200);
  return agent;
}

const BODIES: Record<string, (call: Call) => object> = {
  agentRegister: ({ agentId }) => ({ agent_id: agentId, hostname: 'node', pid: 1 }),
  agentBootFailure: () => ({ error: 'no Java' }),
  agentPoll: () => ({ version: 0, wait_ms: 0 }),
  agentReport: () => ({ daemons: { state: 'ready', master_url: null, error: null }, runs: [] }),
  agentRunLog: () => ({ line: 'of a log' }),
  agentNodeLog: () => ({ line: 'of a log' }),
};

const QUERIES: Record<string, string> = {
  agentRunLog: '?offset=0',
  agentNodeLog: '?offset=0',
  agentRunRequests: '?after=0&wait_ms=0',
};

/** The run has no files and takes no frames, so these errors prove that the caller was admitted. */
const NOTHING_THERE = ['JOB.FILE_NOT_FOUND', 'CHANNEL.NOT_FOUND', 'AGENT.BUNDLE_NOT_FOUND'];

/**
 * Calls every operation of node agents as every kind of caller and compares the responses with expected-access.yaml.
 * Real: the whole API and PostgreSQL. Left out: the agents, whose calls the test makes.
 */
describe('access to the API of agents', () => {
  const api = wholeApi();
  let own: Tenancy;
  let foreign: Tenancy;
  let adminToken: string;
  let declarations: Declarations;
  let operations: OperationOptions[];
  const expected = readExpectedAccess();

  beforeAll(async () => {
    adminToken = await api.login();
    own = await makeTenancy(api.database.manager, 'own');
    foreign = await makeTenancy(api.database.manager, 'foreign');
    declarations = new Declarations(api.app);
    operations = declarations.all().filter(({ access }) => isForNodes(access));
  });

  /** Returns a description of the wrong response to a caller, or null if the response is right. */
  async function problemOf(operation: OperationOptions, caller: Caller): Promise<string | null> {
    const agent = await TestAgent.unregistered(api, own, nextNumber());
    if ((await agent.register()) !== 200) return `${operation.id}: the agent of the node cannot register`;
    const runId = await agent.assignRun(own);
    const token = await caller.token({ api, own, foreign, adminToken, agent });
    const answer = await send(operation, { token, agentId: agent.agentId, runId });
    await api.database.query('DELETE FROM runs WHERE run_id = $1', [runId]);
    const isAdmitted = answer.status === 200 || NOTHING_THERE.some((code) => answer.text.includes(code));
    const verdict = verdictOf(operation, caller);
    if (verdict === 'admitted' ? isAdmitted : !isAdmitted && answer.status === verdict) return null;
    return `${operation.id}: ${caller.name} was answered ${answer.status} instead of ${verdict}; ${answer.text}`;
  }

  function verdictOf({ id, path }: OperationOptions, caller: Caller): Verdict {
    const kind = expected.get(id)?.access.kind;
    if (kind === 'public') return 'admitted';
    // A machine with an agent has not failed to boot.
    if (id === 'agentBootFailure' && caller.bootstrap === 'admitted' && caller.isRegistered) return 401;
    if (kind === 'bootstrap') return caller.bootstrap;
    if (kind === 'node') return path.includes('{run_id}') ? caller.ofRun : caller.node;
    throw new Error(`expected-access.yaml does not say that ${id} is for nodes`);
  }

  async function send({ id, method, path }: OperationOptions, call: Call): Promise<{ status: number; text: string }> {
    const values: Record<string, string> = { '{run_id}': String(call.runId), '{stream}': 'stdout', '{index}': '0' };
    const address = path.replaceAll(/\{\w+\}/g, (name) => values[name] ?? name) + (QUERIES[id] ?? '');
    const answer = await fetch(`${new URL('/agent/v1', api.urlOf('/')).href}${address}`, {
      method,
      headers: {
        ...(call.token === null ? {} : { authorization: `Bearer ${call.token}` }),
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      },
      body: method === 'GET' ? undefined : JSON.stringify(BODIES[id]?.(call)),
    });
    return { status: answer.status, text: await answer.text() };
  }

  /** Returns up to `atMost` wrong responses of the operations. */
  async function problemsOf(concerned: readonly OperationOptions[], atMost = Infinity): Promise<string[]> {
    const problems: string[] = [];
    for (const operation of concerned) {
      for (const caller of CALLERS) {
        if (problems.length >= atMost) return problems;
        const problem = await problemOf(operation, caller);
        if (problem !== null) problems.push(problem);
      }
    }
    return problems;
  }

  it('matches the expectation in every cell', async () => {
    expect(operations).toHaveLength(10);
    expect(await problemsOf(operations)).toEqual([]);
  });

  it('fails if any declaration is widened', async () => {
    const unnoticed: string[] = [];
    for (const operation of operations) {
      for (const { name, access } of wideningsOf(operation.access)) {
        const problems = await declarations.declaring(operation.id, access, () => problemsOf([operation], 1));
        if (problems.length === 0) unnoticed.push(`${operation.id}: ${name}`);
      }
    }
    // The exchange checks the token once more, in the transaction that spends it.
    expect(unnoticed).toEqual(['agentRegister: public']);
  });

  describe('fails without a check of the guard:', () => {
    const repository = () => api.app.get(ClusterNodesRepository, { strict: false });
    const service = () => api.app.get(ClusterNodesService, { strict: false });

    const checks: [string, Access['kind'], () => void][] = [
      [
        'whether the token is that of the node',
        'node',
        () => {
          jest
            .spyOn(service(), 'authenticate')
            .mockImplementation(async (token) => (await service().desired(Number.parseInt(token))).node);
        },
      ],
      [
        'whether the node is destroyed',
        'node',
        () => {
          const get = ClusterNodesRepository.prototype.get.bind(repository());
          jest.spyOn(repository(), 'get').mockImplementation(async (...given) => {
            const node = await get(...given);
            return node && { ...node, status: 'RUNNING' };
          });
        },
      ],
      [
        'whether the bootstrap token is spent',
        'bootstrap',
        () => {
          jest.spyOn(repository(), 'spendBootstrapToken').mockResolvedValue();
        },
      ],
    ];

    it.each(checks)('%s', async (_what, kind, takeAway) => {
      takeAway();
      expect(
        await problemsOf(
          operations.filter(({ access }) => access.kind === kind),
          1,
        ),
      ).not.toEqual([]);
    });
  });
});
