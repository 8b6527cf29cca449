import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withDeadline } from './deadline.mjs';
import { fetchJars } from './maven-jars.mjs';
import { SetupError } from './setup-error.mjs';

const DEADLINE_MS = 5 * 60_000;

/** The KDC of the tests: Hadoop's MiniKdc, which wraps Apache Kerby with a program to start it. SHA-256 of each jar. */
export const KERBEROS_SERVER = {
  'org/apache/hadoop/hadoop-minikdc/3.3.4/hadoop-minikdc-3.3.4.jar':
    '16078f888fe9ac115c62b80046284b21c6bc088aed0d9664fcf896a7a586e1f7',
  'org/apache/kerby/kerb-admin/1.0.1/kerb-admin-1.0.1.jar':
    '27b012f556b02bdf4ecd0742a7ecdd725a562e95a194e3413662fe2e781ff889',
  'org/apache/kerby/kerb-client/1.0.1/kerb-client-1.0.1.jar':
    '020fa95a809b96358ab95d43666471838372659af1cbc3f24ef73c29374e9af0',
  'org/apache/kerby/kerb-common/1.0.1/kerb-common-1.0.1.jar':
    'f62bb275781f8092bb6252e4ed201c9f5e4ab7a3d49b650ab58c87862b0bb2de',
  'org/apache/kerby/kerb-core/1.0.1/kerb-core-1.0.1.jar':
    '4db26bc4a106603044d8883f7280abc803b055b36f5c510a3fffc41e5de4c651',
  'org/apache/kerby/kerb-crypto/1.0.1/kerb-crypto-1.0.1.jar':
    'af94527564908b5a8ccfdfa8e67dd61c09e062459a0110d85115c42fc8f82b41',
  'org/apache/kerby/kerb-identity/1.0.1/kerb-identity-1.0.1.jar':
    '35fd995cc7a0c71f86adaf716dee34f6e4d1e473eff452a74f4430bd196e6424',
  'org/apache/kerby/kerb-server/1.0.1/kerb-server-1.0.1.jar':
    'dff4eebc6cadaa8bdc1084fc1d4c20fda954aed74913845e79c89572768e463f',
  'org/apache/kerby/kerb-simplekdc/1.0.1/kerb-simplekdc-1.0.1.jar':
    '9c9976a603833c001a8a4a4e5b2ea0a6775a84e5656b0eca1fe4eb4d068ceda7',
  'org/apache/kerby/kerb-util/1.0.1/kerb-util-1.0.1.jar':
    '9cb1a2715a35cbabc9e8f1be3287bb086100763847e2f17577b72a025f8adaab',
  'org/apache/kerby/kerby-asn1/1.0.1/kerby-asn1-1.0.1.jar':
    '010a3c33e5b652f11cb29a6e66826a24331e526cf58662dccb4d6695fc6ca59d',
  'org/apache/kerby/kerby-config/1.0.1/kerby-config-1.0.1.jar':
    '244520e9bd61e8cd40a475fe615fbea45ca042fc9d50780df30bc7146f77b8c9',
  'org/apache/kerby/kerby-pkix/1.0.1/kerby-pkix-1.0.1.jar':
    '0410bc1950b57f4792ea6b86df59a2ee87e4ad69b33a17ded438e6686894346a',
  'org/apache/kerby/kerby-util/1.0.1/kerby-util-1.0.1.jar':
    'db7e2f329e160aaac305268ccb7287c16cf5542cffdd786a8592212df7c315aa',
  'org/apache/kerby/kerby-xdr/1.0.1/kerby-xdr-1.0.1.jar':
    'c24e2d9fbaef40a0a61ee36c19e41db5141bfbe7a2669be0227dee86ccca6d6f',
  'org/apache/kerby/token-provider/1.0.1/token-provider-1.0.1.jar':
    '022c92d7438b60789bc212f53f1f33ced2656ba8bf073a1f587df51e083e368a',
  'commons-io/commons-io/2.8.0/commons-io-2.8.0.jar':
    '02f291e5d1243dc143496e3cbbb40a1ced47aa58f2d633d3e38780cd068d5074',
  'org/slf4j/slf4j-api/1.7.36/slf4j-api-1.7.36.jar': 'd3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0',
};

/**
 * Fetches the KDC once; afterwards no network is needed.
 * @param {string} runtimeDir
 * @param {{onProgress?: (text: string) => void, signal?: AbortSignal, env?: NodeJS.ProcessEnv}} [options]
 * @returns {Promise<string>} folder of its jars
 * @throws {SetupError}
 */
export async function prepareKerberosServer(runtimeDir, { onProgress = () => {}, signal, env = process.env } = {}) {
  const id = createHash('sha256').update(JSON.stringify(KERBEROS_SERVER)).digest('hex').slice(0, 16);
  const parent = resolve(runtimeDir, 'kerberos-server');
  const folder = join(parent, id);
  if (existsSync(folder)) return folder;
  onProgress('Fetching the Kerberos server of the tests');
  mkdirSync(parent, { recursive: true });
  // Each attempt has a folder of its own, because another run may be fetching the same jars.
  const draft = mkdtempSync(join(parent, 'draft-'));
  const failed = new AbortController();
  try {
    const limit = withDeadline(DEADLINE_MS, failed.signal, signal);
    await fetchJars(KERBEROS_SERVER, draft, { repository: env.MAVEN_REPOSITORY_URL || undefined, signal: limit });
    if (!existsSync(folder)) renameSync(draft, folder);
    return folder;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new SetupError(
      `The Kerberos server of the tests cannot be fetched: ${cause}. Run the command again once that is solved.`,
    );
  } finally {
    failed.abort();
    rmSync(draft, { recursive: true, force: true });
  }
}
