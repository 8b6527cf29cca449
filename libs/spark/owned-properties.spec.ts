import { whyOwned } from './owned-properties';

describe('whyOwned', () => {
  it.each([
    ['spark.master', 'where it runs'],
    ['spark.submit.deployMode', 'where it runs'],
    ['spark.authenticate', 'a secret of the cluster'],
    ['spark.authenticate.secret', 'a secret of the cluster'],
    ['spark.network.crypto.enabled', 'a secret of the cluster'],
    ['spark.eventLog.dir', 'kept with its logs'],
    ['spark.jars.repositories', '"repositories"'],
  ])('says why %s is not for users', (property, why) => {
    expect(whyOwned(property)).toContain(why);
  });

  it.each([
    ['turbo', 'spark.memory.offHeap.size', 'turbo'],
    ['turbo', 'spark.plugins', 'turbo'],
    ['turbo', 'spark.shuffle.manager', 'turbo'],
    ['cuda', 'spark.plugins', 'CUDA'],
    ['cuda', 'spark.executor.resource.gpu.amount', 'CUDA'],
  ] as const)('says why on a cluster with %s %s is not for users', (accelerator, property, why) => {
    expect(whyOwned(property, accelerator)).toContain(why);
    expect(whyOwned(property)).toBeNull();
    expect(whyOwned('spark.master', accelerator)).toContain('where it runs');
    expect(whyOwned('spark.comet.explainFallback.enabled', accelerator)).toBeNull();
  });

  it.each(['spark.masters', 'spark.sql.shuffle.partitions', 'spark.jars.packages', 'spark.authenticated', ''])(
    'leaves %p to users',
    (property) => {
      expect(whyOwned(property)).toBeNull();
    },
  );
});
