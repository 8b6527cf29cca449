import { Client } from 'managed-spark';

const workspace = new Client().workspace('demo');
const script = 'examples/01-first-job/sum.py';
const run = await workspace.run(script, { name: 'example-sum', cluster: 'demo-spark-3.5.9', args: ['1000'] });
for await (const line of run.follow()) console.log(line);
const { job_status } = await run.result();
const { totals } = await run.metrics();
console.log(`${job_status}, with ${totals.tasks} Spark tasks`);
