import { invalid } from '../errors/domain-error';
import { Field, Param } from './fields';
import { COUNTED_BEYOND, MAX_PAGE } from './page';
import { About } from './schemas';

/** Query of a list that is read on from a record, so that no page costs more than the first one. */
export class KeysetQuery {
  @Param.int32({ min: 1, max: MAX_PAGE, default: 100, description: `Records per page, at most ${MAX_PAGE}` })
  limit: number = 100;

  @Param.text({
    maxLength: 256,
    description: 'The `next` of the previous page, sent with the same filters and order; absent for the first page',
  })
  after?: string;
}

@About('Where the list continues, and its length.')
export class KeysetResultSet {
  @Field.int32() limit: number;
  @Field.int64({
    nullable: true,
    description: `Number of records of the whole list, at most ${COUNTED_BEYOND}; null on every page but the first`,
  })
  total_objects: number | null;
  @Field.boolean({ description: 'True if the list has more records than `total_objects` says' })
  total_is_lower_bound: boolean;
  @Field.text({ nullable: true, description: 'Cursor: sent as `after`, it returns the next page; null on the last' })
  next: string | null;
}

/** The last record of a page: the value of the order in microseconds, and the id that decides between equal ones. */
export interface KeysetPosition {
  key: number;
  id: number;
}

/** Returns the text by which clients name the position in a list with the given order. It names no record that they may not see. */
export function encodePosition(order: string, { key, id }: KeysetPosition): string {
  return Buffer.from(`${order} ${key} ${id}`).toString('base64url');
}

/** Reads a text of {@link encodePosition}. Throws a 400 if it is none, or belongs to a list in another order. */
export function decodePosition(order: string, text: string): KeysetPosition {
  const [, named, key, id] = /^(\S+) (-?\d{1,16}) (\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const position = { key: Number(key), id: Number(id) };
  if (named === order && Number.isSafeInteger(position.key)) return position;
  throw invalid(
    'REQUEST.INVALID',
    'after does not continue a list in this order. Send the `next` of the page before with the same order, or leave it out.',
    { after: text },
  );
}
