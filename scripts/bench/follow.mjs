import { fileURLToPath } from 'node:url';
import { upload } from '../demo/demo.mjs';

const SCRIPT = 'first_line.py';
const FINISHED = ['DONE', 'ERROR', 'TERMINATED', 'STOPPED', 'KILLED'];

/**
 * Measures the seconds from the first line that a job prints to the first byte that a follower of its log receives. The jobs
 * run one after the other.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform with a running cluster
 * @param {number} rounds
 * @returns {Promise<number[]>}
 */
export async function measureFollow(platform, rounds) {
  const { session, jobs, clusterId } = platform;
  const workspaceId = Number(/\d+/.exec(jobs)?.[0]);
  await upload(session, workspaceId, SCRIPT, fileURLToPath(new URL(SCRIPT, import.meta.url)));
  const body = { name: 'first-line', cluster_id: clusterId, job_type: 'Python3', command: SCRIPT };
  const { job_conf_id: jobConfId } = await session.json('POST', `${jobs}/conf`, { body });
  const seconds = [];
  for (let round = 0; round < rounds; round += 1) {
    const { job_id: jobId } = await session.json('POST', jobs, { body: { job_conf_id: jobConfId } });
    seconds.push(await firstByteAfter(platform, `${jobs}/${jobId}/log/stdout`));
    const status = async () => (await platform.look(`${jobs}/${jobId}/status`)).job_status;
    await platform.until(
      `job ${jobId}`,
      status,
      'DONE',
      FINISHED.filter((other) => other !== 'DONE'),
    );
  }
  return seconds;
}

/** @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform @param {string} log */
async function firstByteAfter({ session }, log) {
  const answer = await session.send('GET', log, { query: { follow: true } });
  let text = '';
  let arrived = 0;
  for await (const chunk of answer.body ?? []) {
    arrived ||= Date.now();
    text += Buffer.from(chunk).toString();
  }
  if (!/^\d+\.\d+\n$/.test(text)) throw new Error(`The log of the job is not its one line:\n${text}`);
  return arrived / 1_000 - Number(text);
}
