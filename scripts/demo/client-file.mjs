import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {import('./session.mjs').Session} Session */

/**
 * Writes the variables that every guide in docs/guides begins with. A shell reads the file with `.`; only its owner may
 * read it, since it holds the token of the session.
 * @param {string} file
 * @param {Session} session
 * @param {object} options
 * @param {string} options.username
 * @param {number} options.workspaceId
 * @param {number} options.clusterId
 * @param {string} options.javaHome
 * @param {string} options.sparkHome
 * @param {string | null} options.connectors folder of the jars with which that Spark reaches object stores
 * @returns {Promise<Record<'WORKSPACE' | 'CLUSTER', string>>} names of the workspace and the cluster
 */
export async function writeClientFile(
  file,
  session,
  { username, workspaceId, clusterId, javaHome, sparkHome, connectors },
) {
  const [workspace, cluster] = await Promise.all([
    session.json('GET', '/workspace', { query: { workspace_id: workspaceId } }),
    session.json('GET', '/cluster', { query: { cluster_id: clusterId } }),
  ]);
  const variables = {
    API: `${session.baseUrl}/api/v1`,
    TOKEN: session.token,
    USER_NAME: username,
    WORKSPACE: workspace.name,
    WORKSPACE_ID: workspaceId,
    CLUSTER: cluster.name,
    CLUSTER_ID: clusterId,
    CLOUD_ENV_ID: cluster.cloud_env.cloud_env_id,
    CLUSTER_CONF_ID: cluster.cluster_conf.cluster_conf_id,
    SPARK_INFRA_VERSION_ID: cluster.spark_infra_version.spark_infra_version_id,
    JAVA: join(javaHome, 'bin', 'java'),
    SPARK_JARS: join(sparkHome, 'jars'),
    CONNECTORS: connectors ?? '',
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(String(value))}\n`);
  writeFileSync(`${file}.new`, lines.join(''), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return variables;
}

/** @param {string} text @returns {string} the text as one word of a POSIX shell */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
