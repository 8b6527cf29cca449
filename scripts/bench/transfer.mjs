import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ask, MeasuringProcesses } from './processes.mjs';

const STORE = fileURLToPath(new URL('./transient-store.mjs', import.meta.url));
const CLIENT = fileURLToPath(new URL('./transfer-client.mjs', import.meta.url));

const MEBIBYTE = 2 ** 20;
const BYTES = 256 * MEBIBYTE;
const LONG_BYTES = 5 * 1024 * MEBIBYTE;
const SAMPLE_EVERY_MS = 100;

const KEYS = { accessKeyId: 'any', secretAccessKey: 'any' };
const BUCKET = 'bench';

/** Of the reference data. */
const ONPREM = 3;
const CUSTOM_S3 = 5;

/**
 * Sides of the comparisons: MiB per second of one object through the API and by the SDK straight to the store, which
 * keeps nothing and so is no slower than the machine.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function prepareTransfer(platform, signal) {
  const processes = new MeasuringProcesses(signal);
  try {
    const { port } = await ask(processes.start(STORE), {});
    const endpoint = `http://127.0.0.1:${port}`;
    const client = processes.start(CLIENT);
    const managerId = await makeManager(platform.session, endpoint);
    const transfer = async (message) => {
      const wanted = message.bytes ?? BYTES;
      const { bytes, ms, error } = await ask(client, { bytes: wanted, ...message });
      if (error || bytes !== wanted) throw new Error(`${message.kind} failed: ${error ?? `${bytes} bytes`}`);
      return wanted / MEBIBYTE / (ms / 1000);
    };
    const bySdk = (kind, key) => transfer({ kind, endpoint, bucket: BUCKET, key, keys: KEYS });
    const byApi = (kind, path, query, bytes = BYTES) => {
      const url = new URL(`${platform.session.baseUrl}/api/v1/object_storage_manager${path}`);
      url.search = new URLSearchParams({ object_storage_manager_id: String(managerId), ...query }).toString();
      return transfer({ kind, url: url.href, token: platform.session.token, bytes });
    };
    const up = (bytes) => byApi('uploadByApi', '/files', { path: 'uploaded', overwrite: 'true' }, bytes);
    const down = (bytes = BYTES) => byApi('downloadByApi', '/file/download', { file_path: `zeros-${bytes}` }, bytes);
    return {
      upload: { baseline: () => bySdk('uploadBySdk', 'by-sdk'), product: () => up() },
      download: { baseline: () => bySdk('downloadBySdk', `zeros-${BYTES}`), product: () => down() },
      growth: async () => {
        await up(64 * MEBIBYTE);
        return memoryGrowth(platform.apiPid(), async () => {
          await up(LONG_BYTES);
          await down(LONG_BYTES);
        });
      },
      close: () => processes.close(),
    };
  } catch (error) {
    await processes.close();
    throw error;
  }
}

async function makeManager(session, endpoint) {
  const keys = {
    AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    S3_ENDPOINT: endpoint,
  };
  const credentials = await session.json('POST', '/credential_config', {
    body: {
      name: 'bench-store',
      credential_type_id: CUSTOM_S3,
      base64_encoded_credentials: { encoded: Buffer.from(JSON.stringify(keys)).toString('base64') },
    },
  });
  const manager = await session.json('POST', '/object_storage_manager', {
    body: {
      name: 'bench-store',
      cloud_provider_id: ONPREM,
      credentials_conf_id: Number(credentials.credentials_conf_id),
      object_storage_bucket_name: BUCKET,
    },
  });
  return manager.object_storage_manager_id;
}

/** By how many MiB the resident memory of a process grows at most while the work is done. */
async function memoryGrowth(pid, work) {
  const before = residentMebibytes(pid);
  let highest = before;
  const timer = setInterval(() => (highest = Math.max(highest, residentMebibytes(pid))), SAMPLE_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return highest - before;
}

function residentMebibytes(pid) {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kibibytes === undefined) throw new Error(`Process ${pid} tells nothing of its memory.`);
  return Number(kibibytes) / 1024;
}
