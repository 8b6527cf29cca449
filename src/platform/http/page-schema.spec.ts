import 'reflect-metadata';
import { Field } from '../kernel/dto/fields';
import { pageSchemaOf } from './page-schema';

class BucketRead {
  @Field.id({ description: 'Id of the bucket' }) bucket_id: number;
}

describe('pageSchemaOf', () => {
  it('names the page after the record, without what says that it is read', () => {
    class VesselListItem extends BucketRead {}
    class VesselEvent extends BucketRead {}
    expect([BucketRead, VesselListItem, VesselEvent].map((type) => pageSchemaOf(type).name)).toEqual([
      'BucketPage',
      'VesselPage',
      'VesselEventPage',
    ]);
  });

  it('returns the same class for every list of the records', () => {
    expect(pageSchemaOf(BucketRead)).toBe(pageSchemaOf(BucketRead));
  });

  it('refuses another class whose pages would have the same name', () => {
    class BucketListItem extends BucketRead {}
    pageSchemaOf(BucketRead);
    expect(() => pageSchemaOf(BucketListItem)).toThrow(
      'Pages of BucketRead and BucketListItem would both be BucketPage: rename one of the classes',
    );
  });
});
