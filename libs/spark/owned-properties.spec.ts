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

  it.each(['spark.masters', 'spark.sql.shuffle.partitions', 'spark.jars.packages', 'spark.authenticated', ''])(
    'leaves %p to users',
    (property) => {
      expect(whyOwned(property)).toBeNull();
    },
  );
});
