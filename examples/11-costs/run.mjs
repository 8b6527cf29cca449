import { Client } from 'managed-spark';

const workspace = new Client().workspace('demo');
const script = 'examples/01-first-job/sum.py';
const run = await workspace.run(script, { name: 'example-sum', cluster: 'demo-spark-3.5.9', args: ['1000'] });
await run.result();

const { cost, intervals } = await run.cost();
console.log(`${cost.node_ms} ms of nodes cost ${cost.amount?.toFixed(6)} ${cost.currency}`);
for (const { slots, node_id: node, from_date: from } of intervals) {
  console.log(`One of ${slots} slots of node ${node}, from ${from}`);
}
const sum = intervals.reduce((total, { share_ms: share }) => total + share, 0);
if (sum === cost.node_ms) console.log('The intervals add up to the cost.');
