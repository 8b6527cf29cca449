import { done, SparkNode } from '../harness/spark-node';

describe('a driver that waits for runs', () => {
  let node: SparkNode;

  beforeAll(() => {
    node = new SparkNode();
  });

  afterAll(() => node.close());

  it('becomes the run that it is handed', async () => {
    const python = `
import os, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print(spark.range(10).count(), spark.sparkContext.appName, os.environ.get('MINE'), sys.argv)
print('to stderr', file=sys.stderr)
`;
    const cold0 = Date.now();
    const cold = done(await node.run({ python, env: { MINE: 'x' } }));
    console.log('cold', Date.now() - cold0, cold.stdout, cold.stderr);
    await node.warmUp().catch((e) => { console.log(require('child_process').execSync(`ps axo pid,ppid,sid,args | grep -v grep | grep ${node.dir} | cut -c1-3000; for p in $(pgrep -f 'warm[.]WarmDriver'); do kill -3 $p; done; sleep 3; ls -la ${node.dir}/warm/*; tail -n 30 ${node.dir}/warm/*/std* ; cat ${node.dir}/*log* | tail -20; ls -la ${node.dir}`).toString()); throw e; });
    const started = Date.now();
    const run = done(await node.run({ python, env: { MINE: 'x' } }));
    console.log('warm', Date.now() - started, run.stdout, run.stderr);
    expect(run.stdout).toBe(cold.stdout);
  });
});
