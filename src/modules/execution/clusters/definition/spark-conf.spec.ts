import { checkConf, type Configures, parseConfEntry } from './spark-conf';

const refusal = (who: Configures, entry: string): unknown => {
  try {
    checkConf(who, ['spark.a=1', entry]);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('parseConfEntry', () => {
  it.each([
    ['spark.a=1', 'spark.a', '1'],
    ['spark.a 1 2', 'spark.a', '1 2'],
    ['spark.a\t\n1', 'spark.a', '1'],
    ['spark.a= 1 ', 'spark.a', ' 1 '],
    ['spark.a=\n\n', 'spark.a', '\n\n'],
    ['spark.a= ', 'spark.a', ' '],
    ['spark.a 1 \t', 'spark.a', '1'],
    ['spark.a 1\n', 'spark.a', '1\n'],
    ['spark.a = 1', 'spark.a', '1'],
    ['spark.a ', 'spark.a', ''],
    ['spark.a=b=c', 'spark.a', 'b=c'],
    ['spark.a=', 'spark.a', ''],
    ['spark.a=1\nspark.master=local', 'spark.a', '1\nspark.master=local'],
  ])('reads %j', (entry, key, value) => expect(parseConfEntry(entry)).toEqual({ key, value }));

  it.each(['', 'spark.a', '=1', ' spark.a=1', '\u00a0spark.a=1'])('reads nothing from %j', (entry) =>
    expect(parseConfEntry(entry)).toBeNull(),
  );
});

describe('checkConf', () => {
  it.each<[Configures, string, string | null]>([
    ['CLUSTER', 'spark.b 2', null],
    ['CLUSTER', 'spark.b=2', null],
    ['CLUSTER', 'spark.b', 'CLUSTER.INVALID_SPARK_CONF'],
    ['CLUSTER', 'spark.master local[1]', 'CLUSTER.PROPERTY_OWNED'],
    ['CLUSTER', 'spark.master\u00a0local[1]', 'CLUSTER.PROPERTY_OWNED'],
    ['CLUSTER', 'spark.authenticate.secret=known', 'CLUSTER.PROPERTY_OWNED'],
    ['JOB_CONF', 'spark.b=2', null],
    ['JOB_CONF', 'spark.b 2', 'JOB_CONF.INVALID_CONF'],
    ['JOB_CONF', ' spark.master=local[1]', 'JOB_CONF.INVALID_CONF'],
    ['JOB_CONF', 'spark.master=local[1]', 'JOB_CONF.PROPERTY_OWNED'],
    ['JOB', 'spark.b =2', 'JOB.INVALID_CONF'],
    ['CLUSTER', 'spark.driver.memory 2g', null],
    ['CLUSTER', 'spark.driver.memory 12 potatoes', 'CLUSTER.INVALID_SPARK_CONF'],
    ['JOB', 'spark.network.timeout=2 minutes', 'JOB.INVALID_CONF'],
    ['NOTEBOOK_CONF', 'spark.executor.cores=two', 'NOTEBOOK_CONF.INVALID_CONF'],
    ['JOB', 'spark.eventLog.dir=/tmp', 'JOB.PROPERTY_OWNED'],
  ])('of a %s refuses %j with %p', (who, entry, code) => expect(refusal(who, entry)).toBe(code));

  it('says which value Spark cannot read, and what it reads', () => {
    expect(() => checkConf('JOB_CONF', ['spark.executor.memoryOverhead=12 potatoes'])).toThrow(
      'The Spark property spark.executor.memoryOverhead cannot be "12 potatoes". It must be a whole number with or without a ' +
        'unit (b, k, kb, m, mb, g, gb, t, tb, p or pb), such as 512m.',
    );
  });

  it('says which property it is, and why', () => {
    expect(() => checkConf('JOB_CONF', ['spark.master=local'])).toThrow(
      'The Spark property spark.master is managed by the platform: the cluster of the job decides where it runs.',
    );
  });
});
