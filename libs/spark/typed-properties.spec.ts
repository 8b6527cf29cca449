import { requiredForm } from './typed-properties';

describe('requiredForm', () => {
  it.each([
    ['spark.driver.memory', '2g'],
    ['spark.executor.memory', ' 512MB '],
    ['spark.executor.memoryOverhead', '384'],
    ['spark.driver.maxResultSize', '0'],
    ['spark.sql.autoBroadcastJoinThreshold', '-1'],
    ['spark.network.timeout', '120s'],
    ['spark.network.timeout', '5MIN'],
    ['spark.sql.broadcastTimeout', '-1'],
    ['spark.executor.cores', '2'],
    ['spark.executor.memory', '${spark.driver.memory}'],
    ['spark.a', '12 potatoes'],
  ])('accepts %s of %p', (property, value) => expect(requiredForm(property, value)).toBeNull());

  it.each([
    ['spark.driver.memory', '12 potatoes', 'such as 512m or 2g'],
    ['spark.driver.memory', '2', 'with a unit'],
    ['spark.executor.memory', '0g', 'greater than 0'],
    ['spark.executor.memory', '1.5g', 'a whole number'],
    ['spark.executor.memory', '', 'a whole number'],
    ['spark.executor.memoryOverhead', '1 g', 'b, k, kb, m, mb, g, gb, t, tb, p or pb'],
    ['spark.network.timeout', '2 minutes', 'us, ms, s, m, min, h or d'],
    ['spark.network.timeout', '120sec', 'us, ms, s, m, min, h or d'],
    ['spark.executor.cores', 'two', 'a whole number'],
  ])('refuses %s of %p', (property, value, part) => expect(requiredForm(property, value)).toContain(part));
});
