import { join } from 'node:path';
import type { ApiClient, Json } from './harness/api-client';
import { createCluster, describeEstate, destroyCluster, type Estate, reachStatus, stateReason } from './harness/estate';
import { SHARED_SETTINGS, SharedPlatform } from './harness/shared-platform';

const LOG_LIMIT = Number(SHARED_SETTINGS.e2e.LOG_MAX_BYTES);
const TIMEOUT_MS = Number(SHARED_SETTINGS.e2e.BOOTSTRAP_TIMEOUT_MS);

let platform: SharedPlatform;
let admin: ApiClient;
let estate: Estate;

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'bootstrap-scripts');
  admin = await platform.admin();
  estate = await describeEstate(admin, platform.runtime.sparkVersion);
});

afterAll(() => platform?.close());

/** Starts a cluster with a script that fails; returns the cluster and the reason of its ERROR. */
async function failed(
  name: string,
  bootstrap_shell_script: string,
  nodes = 1,
): Promise<{ cluster: Json; why: string }> {
  const sizes = { min_instances: nodes, max_instances: nodes };
  const id = await createCluster(admin, estate, name, { bootstrap_shell_script, ...sizes });
  await admin.post('/cluster/start', { cluster_id: id });
  const cluster = await reachStatus(admin, id, 'ERROR');
  const why = await stateReason(admin, id);
  expect(cluster.nodes).toEqual([]);
  expect(await platform.nodeProcesses()).toEqual([]);
  expect(await platform.nodeFolders()).toEqual([]);
  await destroyCluster(admin, id);
  return { cluster, why };
}

/** Returns the log of the node that failed. */
async function logOf({ cluster_id }: Json, stream: 'stdout' | 'stderr'): Promise<string> {
  const { data } = await admin.get('/cluster/node/events', { cluster_id, limit: 100 });
  const error = data.find((event: Json) => event.node_status === 'ERROR');
  return admin.text(`/cluster/log/${stream}`, { cluster_id, node_status_id: error.node_status_id });
}

describe('a bootstrap script', () => {
  it('that fails on one node of three ends the start, with the node, the exit code and the last output', async () => {
    // The node that creates the third folder is the last one.
    const place = join(platform.sharedDir, 'node');
    const script = `for n in 0 1 2; do mkdir '${place}'-$n 2>/dev/null && break; done
echo "I am number $n"
[ $n -lt 2 ] || { echo 'no third one, please' >&2; exit 1; }
`;
    const { why } = await failed('one-of-three', script, 3);
    expect(why).toMatch(
      /Node [012]: The bootstrap script ended with 1\. Its last output: no third one, please\s+I am number 2/,
    );
  });

  it('that hangs ends at its timeout', async () => {
    const { cluster, why } = await failed('hanging', 'echo waiting for godot\nsleep 100000\n');
    expect(why).toContain(
      `The bootstrap script took longer than ${TIMEOUT_MS / 1000} seconds. Its last output: waiting for godot`,
    );
    expect(await logOf(cluster, 'stdout')).toContain('waiting for godot');
  });

  it('that prints 200 MB is reported with the end of its output, and its log stays within the limit', async () => {
    const { cluster, why } = await failed('talkative', 'yes abcdefghij | head -c 209715200\necho the end\nexit 3\n');
    expect(why).toMatch(/The bootstrap script ended with 3\. Its last output: [^]*the end$/);
    const log = await logOf(cluster, 'stdout');
    expect(log.length).toBeGreaterThan(LOG_LIMIT / 2);
    expect(log.length).toBeLessThan(3 * LOG_LIMIT);
  });
});
