import { ApiError, Client } from 'managed-spark';

const workspace = new Client().workspace('demo');
const place = { name: 'example-sevens', cluster: 'demo-spark-3.5.9' };
const sevens = await workspace.function('examples/05-function/serve.py', 'sevens', place);
try {
  console.log(await sevens({ limit: 1000 }));
  await sevens({ count: 1000 });
} catch (failure) {
  if (!(failure instanceof ApiError) || failure.code !== 'FUNCTION.FAILED') throw failure;
  console.log(`${String(failure.details['type'])}: ${failure.reason}`);
} finally {
  await sevens.stop();
}
