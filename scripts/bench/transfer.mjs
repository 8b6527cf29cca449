import { fileURLToPath } from 'node:url';
import { memoryGrowth } from './memory.mjs';
import { ask, MeasuringProcesses } from './processes.mjs';

const STORE = fileURLToPath(new URL('./transient-store.mjs', import.meta.url));
const CLIENT = fileURLToPath(new URL('./transfer-client.mjs', import.meta.url));

const MEBIBYTE = 2 ** 20;
const BYTES = 256 * MEBIBYTE;
const LONG_BYTES = 5 * 1024 * MEBIBYTE;

/** 2.5 Gbit/s: more than one connection to a cloud's store reaches, and about the network of small machines there. */
const NETWORK_BYTES_PER_SECOND = 312_500_000;

const KEYS = { accessKeyId: 'any', secretAccessKey: 'any' };
const BUCKET = 'bench';

/** Id of the on-premises provider in the reference data. */
const ONPREM = 3;
const CUSTOM_S3 = 5;

/**
 * @typedef {import('../demo/session.mjs').Session} Session
 * @typedef {import('./comparison.mjs').Sides} Sides
 *
 * Transfers of one object, each in MiB per second.
 * @typedef {object} Transfers
 * @property {(kind: 'uploadBySdk' | 'downloadBySdk', key: string) => Promise<number>} bySdk
 * @property {(bytes?: number) => Promise<number>} up through the API
 * @property {(bytes?: number) => Promise<number>} down through the API
 */

/**
 * Prepares the sides of the comparisons: MiB per second of one object through the API, and by the SDK directly to the store,
 * which keeps nothing. The first store is as fast as the machine, whose processors API, client and store share; the second is
 * behind a simulated network.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function prepareTransfer(platform, signal) {
  const processes = new MeasuringProcesses(signal);
  try {
    const client = processes.start(CLIENT);
    /** @param {string} name @param {import('./transient-store.mjs').Instructions} instructions */
    const lane = async (name, instructions) => {
      /** @type {{port: number}} */
      const { port } = await ask(processes.start(STORE), instructions);
      return transfersBy(client, platform.session, name, `http://127.0.0.1:${port}`);
    };
    const machine = await lane('bench-machine', {});
    const network = await lane('bench-network', { bytesPerSecond: NETWORK_BYTES_PER_SECOND });
    return {
      machine: sidesOf(machine),
      network: sidesOf(network),
      growth: async () => {
        await machine.up(64 * MEBIBYTE);
        return memoryGrowth(platform.apiPid(), async () => {
          await machine.up(LONG_BYTES);
          await machine.down(LONG_BYTES);
        });
      },
      close: () => processes.close(),
    };
  } catch (error) {
    await processes.close();
    throw error;
  }
}

/** @param {Transfers} transfers @returns {{upload: Sides, download: Sides}} */
function sidesOf({ bySdk, up, down }) {
  return {
    upload: { baseline: () => bySdk('uploadBySdk', 'by-sdk'), product: () => up() },
    download: { baseline: () => bySdk('downloadBySdk', `zeros-${BYTES}`), product: () => down() },
  };
}

/**
 * Returns transfers to and from the store at the endpoint, which the API knows by a storage manager of this name.
 * @param {import('node:child_process').ChildProcess} client
 * @param {Session} session
 * @param {string} name
 * @param {string} endpoint
 * @returns {Promise<Transfers>}
 */
async function transfersBy(client, session, name, endpoint) {
  const managerId = await makeManager(session, name, endpoint);
  /** @param {import('./transfer-client.mjs').Transfer} message */
  const transfer = async (message) => {
    /** @type {{bytes: number, ms: number, error?: string}} */
    const { bytes, ms, error } = await ask(client, message);
    if (error || bytes !== message.bytes) throw new Error(`${message.kind} failed: ${error ?? `${bytes} bytes`}`);
    return bytes / MEBIBYTE / (ms / 1000);
  };
  /** @param {'uploadByApi' | 'downloadByApi'} kind @param {string} path @param {Record<string, string>} query @param {number} [bytes] */
  const byApi = (kind, path, query, bytes = BYTES) => {
    const url = new URL(`${session.baseUrl}/api/v1/object_storage_manager${path}`);
    url.search = new URLSearchParams({ object_storage_manager_id: String(managerId), ...query }).toString();
    return transfer({ kind, url: url.href, token: session.token ?? '', bytes });
  };
  return {
    bySdk: (kind, key) => transfer({ kind, endpoint, bucket: BUCKET, key, keys: KEYS, bytes: BYTES }),
    up: (bytes) => byApi('uploadByApi', '/files', { path: 'uploaded', overwrite: 'true' }, bytes),
    down: (bytes = BYTES) => byApi('downloadByApi', '/file/download', { file_path: `zeros-${bytes}` }, bytes),
  };
}

/** @param {Session} session @param {string} name @param {string} endpoint @returns {Promise<string>} its id */
async function makeManager(session, name, endpoint) {
  const keys = {
    AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    S3_ENDPOINT: endpoint,
  };
  const credentials = await session.json('POST', '/credential_config', {
    body: {
      name,
      credential_type_id: CUSTOM_S3,
      base64_encoded_credentials: { encoded: Buffer.from(JSON.stringify(keys)).toString('base64') },
    },
  });
  const manager = await session.json('POST', '/object_storage_manager', {
    body: {
      name,
      cloud_provider_id: ONPREM,
      credentials_conf_id: Number(credentials.credentials_conf_id),
      object_storage_bucket_name: BUCKET,
    },
  });
  return manager.object_storage_manager_id;
}
