import { startCluster } from './estate';
import type { SharedPlatform } from './shared-platform';

/** Creates the workspace and the cluster of the quickstart's demo, and writes the file that the guides read first. */
export async function prepareAsQuickstart(platform: SharedPlatform, clientFile: string): Promise<void> {
  const { associate, describeCluster, makeWorkspace, readLookups } = await import('../../../scripts/demo/demo.mjs');
  const { Session } = await import('../../../scripts/demo/session.mjs');
  const { writeClientFile } = await import('../../../scripts/demo/client-file.mjs');
  const { javaHome, sparkHome, sparkVersion, connectors } = platform.runtime;
  const admin = await platform.admin();
  const session = new Session({ baseUrl: platform.baseUrl });
  session.token = admin.currentToken;
  const lookups = await readLookups(session, sparkVersion);
  const clusterId = await describeCluster(session, lookups, { sparkVersion, productName: 'PLATFORM' });
  const workspaceId = await makeWorkspace(session);
  await associate(session, { workspaceId, clusterId });
  await startCluster(admin, clusterId);
  const { username } = platform;
  const made = { username, workspaceId, clusterId, javaHome, sparkHome, connectors };
  await writeClientFile(clientFile, session, made);
}
