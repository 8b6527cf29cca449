import { ApiError, Client } from 'managed-spark';

const workspace = new Client().workspace('demo');
const script = 'examples/01-first-job/sum.py';
const job = await workspace.describeScript(script, { name: 'example-sum', cluster: 'demo-spark-3.5.9' });
// A schedule would name the run by its date, such as nightly-2026-11-28.
const idempotencyKey = `example-${Date.now()}-${process.pid}`;

const first = await workspace.jobs.submit(job, { args: ['10'], idempotencyKey });
const second = await workspace.jobs.submit(job, { args: ['10'], idempotencyKey });
if (first.id === second.id) console.log('The second answer names the same run.');
try {
  await workspace.jobs.submit(job, { args: ['20'], idempotencyKey });
} catch (refusal) {
  if (!(refusal instanceof ApiError)) throw refusal;
  console.log('Another body with this key:', refusal.code);
}
await first.result();
