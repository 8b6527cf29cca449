import { setProductName } from '../../../../platform/kernel/product/product-name';
import type { ReferenceData } from '../../../foundation/reference-data';
import { sparkVersionsFor } from './job-support';

const version = (id: number, has: object) => ({
  spark_infra_version_id: id,
  ...{
    notebook_support: false,
    thrift_support: false,
    platform_functions_support: false,
    acme_functions_support: false,
  },
  ...has,
});

describe('sparkVersionsFor', () => {
  const versions = [
    version(1, {}),
    version(2, { notebook_support: true }),
    version(3, { thrift_support: true }),
    version(4, { platform_functions_support: true }),
    version(5, { acme_functions_support: true }),
  ];
  const referenceData = { sparkInfraVersions: () => versions } as unknown as ReferenceData;

  afterEach(() => setProductName('PLATFORM'));

  it.each([
    ['SPARK_JOB', [1, 2, 3, 4, 5]],
    ['JAR', [1, 2, 3, 4, 5]],
    ['NOTEBOOK', [2]],
    ['THRIFT_SQL', [3]],
    ['PLATFORM_FUNCTIONS', [4]],
  ])('returns the versions that run %s', (jobType, ids) =>
    expect(sparkVersionsFor(jobType, referenceData)).toEqual(ids),
  );

  it('reads lookups under the name of the product', () => {
    setProductName('acme');
    expect(sparkVersionsFor('PLATFORM_FUNCTIONS', referenceData)).toEqual([5]);
  });
});
