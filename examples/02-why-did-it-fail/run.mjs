import { Client, RunFailed } from 'managed-spark';

const FOLDER = 'examples/02-why-did-it-fail';
const cluster = 'demo-spark-3.5.9';
const workspace = new Client().workspace('demo');

const average = () => workspace.run(`${FOLDER}/average.py`, { name: 'example-average', cluster });

const missing = async () => {
  await workspace.jobs.define('example-missing', 'Python3', cluster, { command: 'nope.py' });
  return workspace.jobs.submit('example-missing');
};

const orders = () => workspace.run(`${FOLDER}/orders.sql`, { name: 'example-orders', cluster });

for (const submit of [average, missing, orders]) {
  const run = await submit();
  try {
    await run.result();
  } catch (failure) {
    if (!(failure instanceof RunFailed)) throw failure;
    console.log(`${failure.code}: ${failure.reason}`);
    console.log(failure.remedy);
    if (failure.code === 'PYTHON_ERROR') {
      const errors = (await run.log('stderr')).split('\n').filter((line) => line.includes('Error: '));
      console.log(errors.at(-1));
    }
  }
}
