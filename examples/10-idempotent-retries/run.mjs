import { ApiError, Client } from 'managed-spark';

const workspace = new Client().workspace('demo');
const script = 'examples/01-first-job/sum.py';
const job = await workspace.defineJob(script, { name: 'example-sum', cluster: 'demo-spark-3.5.9' });
// A scheduled program would use the date, such as nightly-2026-11-28.
const idempotencyKey = `example-${Date.now()}-${process.pid}`;

const first = await workspace.jobs.submit(job, { args: ['10'], idempotencyKey });
const second = await workspace.jobs.submit(job, { args: ['10'], idempotencyKey });
if (first.id === second.id) console.log('Both requests returned the same run.');
try {
  await workspace.jobs.submit(job, { args: ['20'], idempotencyKey });
} catch (refusal) {
  if (!(refusal instanceof ApiError)) throw refusal;
  console.log('Same key, other body:', refusal.code);
}
await first.result();
