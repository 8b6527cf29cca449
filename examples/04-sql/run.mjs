import { Client } from 'managed-spark';

const workspace = new Client().workspace('demo');
const statement = `
  select cast(id % 3 as string) as shop, sum(10 + id * 1.5D) as revenue
  from range(90) group by shop order by shop`;
const totals = await workspace.sql(statement, { cluster: 'demo-spark-3.5.9' });
for (const { shop, revenue } of totals.toObjects()) console.log(shop, revenue);
