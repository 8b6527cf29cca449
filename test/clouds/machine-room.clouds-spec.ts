import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeBootScript } from '../../libs/compute-drivers/boot/boot-script';
import { plainNodeSpec } from '../../libs/compute-drivers/compute-driver.contract';
import { eventually } from '../harness/eventually';
import { AgentBundles } from '../../src/modules/interfaces/agents/agent-bundles';
import { makeTenancy, type Tenancy } from '../medium/harness/records';
import { TestAgent } from '../medium/harness/test-agent';
import { wholeApi } from '../medium/harness/test-api';
import { MachineRoom, type RoomMachine } from './harness/machine-room';
import { layPreparedImage } from './harness/runtime-image';

const SPARK = '3.5.9';
const BUNDLE = readFileSync(join(__dirname, '..', '..', 'dist', 'agent', 'agent.js'));
const agentSha256 = createHash('sha256').update(BUNDLE).digest('hex');

/**
 * Real: the boot script, the built agent, Spark, the API and PostgreSQL. There are no drivers; the test creates the machines
 * itself.
 */
describe('a machine that boots by the script', () => {
  const api = wholeApi();
  let tenancy: Tenancy;
  let machines: RoomMachine[];
  let room: MachineRoom;

  beforeAll(async () => {
    tenancy = await makeTenancy(api.database.manager, 'mine');
  });

  beforeEach(async () => {
    // The API runs from its sources and has no built agent beside it.
    const bundles = api.app.get(AgentBundles, { strict: false });
    const get = bundles.get.bind(bundles);
    jest
      .spyOn(bundles, 'get')
      .mockImplementation((sha256) => (sha256 === agentSha256 ? Promise.resolve(BUNDLE) : get(sha256)));
    await api.database.query('UPDATE cluster_nodes SET node_number = node_number + 1');
    machines = [];
  });
  afterEach(() => room.close());

  async function bootScript(): Promise<{ nodeId: number; userData: string }> {
    const { nodeId, bootstrapToken } = await TestAgent.unregistered(api, tenancy);
    await setWaiting(nodeId);
    const plain = plainNodeSpec(`node-${nodeId}`, SPARK);
    const agentApiUrl = new URL(await api.app.getUrl()).origin;
    const machine = { ...plain.machine, memoryMb: 2048 };
    const spec = { ...plain, machine, boot: { ...plain.boot, agentApiUrl, bootstrapToken } };
    return { nodeId, userData: makeBootScript({ agentSha256, mirror: null, items: [], ca: null })(spec, 'aws') };
  }

  /** Creates a node in the state before the agent's first report. */
  const setWaiting = (nodeId: number) =>
    api.database.query(`UPDATE cluster_nodes SET daemons_state = 'starting' WHERE node_id = $1`, [nodeId]);

  async function stateOf(nodeId: number) {
    const sql = `SELECT daemons_state, error, agent_id IS NOT NULL AS has_agent, bootstrap_token_hash IS NULL AS is_spent,
      interruption FROM cluster_nodes WHERE node_id = $1`;
    const [row] = await api.database.query<Record<string, unknown>[]>(sql, [nodeId]);
    return row ?? {};
  }

  it('becomes a node, reports its interruption, keeps its disk over a stop, and leaves nothing behind', async () => {
    room = new MachineRoom({ list: () => Promise.resolve(machines), image: (root) => layPreparedImage(root, SPARK) });
    room.open();
    const { nodeId, userData } = await bootScript();
    const machine: RoomMachine = { id: 'i-1', state: 'running', boots: 1, userData };
    machines = [machine];
    const ready = async (): Promise<boolean> => (await stateOf(nodeId))['daemons_state'] === 'ready';
    await eventually(ready, { timeoutMs: 180_000, what: 'a node that is ready' });
    expect(await stateOf(nodeId)).toMatchObject({ has_agent: true, is_spent: true, error: null });
    const root = room.rootOf('i-1');
    await eventually(() => readFileSync(join(root, 'node', 'agent.json'), 'utf8').includes('"spent"'));

    machines = [{ ...machine, state: 'stopped' }];
    await room.follow();
    expect(existsSync(join(root, 'node', 'state', 'agent.json'))).toBe(true);
    await setWaiting(nodeId);
    machines = [{ ...machine, boots: 2 }];
    await eventually(ready, { timeoutMs: 180_000, what: 'the node again' });

    room.announce('i-1', new Date(Date.now() + 120_000));
    const interrupted = async () => JSON.stringify(await stateOf(nodeId)).includes('AWS will terminate');
    await eventually(interrupted, { what: 'the interruption' });

    machines = [];
    await eventually(() => !existsSync(root));
  });

  it('reports what its image lacks', async () => {
    room = new MachineRoom({ list: () => Promise.resolve(machines) });
    room.open();
    const { nodeId, userData } = await bootScript();
    machines = [{ id: 'i-2', state: 'running', boots: 1, userData }];
    const failed = async () => (await stateOf(nodeId))['daemons_state'] === 'failed';
    await eventually(failed, { timeoutMs: 180_000, what: 'a failed node' });
    expect(String((await stateOf(nodeId))['error'])).toContain('The machine has no node');
  });
});
