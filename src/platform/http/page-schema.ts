import type { Type } from '@nestjs/common';
import { Field } from '../kernel/dto/fields';
import { ResultSet } from '../kernel/dto/page';
import { About } from '../kernel/dto/schemas';

const schemas = new Map<string, { record: Type<object>; page: Type<object> }>();

/**
 * Returns the class that the document shows as a page of the records: `ClusterPage` for `ClusterRead`. Generated clients name
 * their types after it. Throws an error if pages of two classes would have one name.
 */
export function pageSchemaOf(record: Type<object>): Type<object> {
  const name = `${record.name.replace(/(Read|ListItem)$/, '')}Page`;
  const known = schemas.get(name);
  if (known && known.record !== record) {
    throw new Error(
      `Pages of ${known.record.name} and ${record.name} would both be ${name}: rename one of the classes`,
    );
  }
  const page = known?.page ?? pageClass(name, record);
  schemas.set(name, { record, page });
  return page;
}

function pageClass(name: string, record: Type<object>): Type<object> {
  @About(`A page of ${record.name} records.`)
  class Page {
    @Field.objects(() => record, { description: 'The records of this page' }) data: object[];
    @Field.object(() => ResultSet) result_set: ResultSet;
  }
  Object.defineProperty(Page, 'name', { value: name });
  return Page;
}
