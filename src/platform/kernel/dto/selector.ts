import { invalid } from '../errors/domain-error';
import { Param } from './fields';

/** Selects one record by id, by name, or by both, which must then agree. */
export interface RecordSelector<Id extends number | string = number> {
  id?: Id;
  name?: string;
}

/** Base class of a query that selects one record by `<prefix>_id` or `<prefix>_name`; one of them is required. */
export function RecordSelectorQuery(prefix: string) {
  return selectorQuery<number>(prefix, Param.id);
}

/** As {@link RecordSelectorQuery}, for a record whose id is a UUID. */
export function UuidSelectorQuery(prefix: string) {
  return selectorQuery<string>(prefix, Param.uuid);
}

function selectorQuery<Id extends number | string>(prefix: string, idParam: typeof Param.id | typeof Param.uuid) {
  class SelectorQuery {
    /** Throws a 400 if neither id nor name is given. */
    selector(): RecordSelector<Id> {
      return selectorFrom<Id>(this, prefix);
    }
  }
  const [id, name] = [`${prefix}_id`, `${prefix}_name`];
  const oneIsRequired = [id, name];
  idParam({ description: 'Selects the record by id', oneIsRequired })(SelectorQuery.prototype, id);
  Param.text({ description: 'Selects the record by name', oneIsRequired })(SelectorQuery.prototype, name);
  return SelectorQuery;
}

/** Reads `<prefix>_id` and `<prefix>_name` from a validated query or body. Throws a 400 if neither is given. */
export function selectorFrom<Id extends number | string = number>(source: object, prefix: string): RecordSelector<Id> {
  const { [`${prefix}_id`]: id, [`${prefix}_name`]: name } = source as Record<string, unknown>;
  const selector: RecordSelector<Id> = {
    ...(typeof id === 'number' || typeof id === 'string' ? { id: id as Id } : {}),
    ...(typeof name === 'string' ? { name } : {}),
  };
  if (selector.id === undefined && selector.name === undefined) {
    throw invalid('REQUEST.SELECTOR_MISSING', `One of ${prefix}_id or ${prefix}_name is required.`);
  }
  return selector;
}

/** Returns the words by which an error names the selected record: `id 7 and name "a"`. */
export function describeSelector(selector: RecordSelector<number | string>): string {
  const parts = [
    ...(selector.id === undefined ? [] : [`id ${selector.id}`]),
    ...(selector.name === undefined ? [] : [`name "${selector.name}"`]),
  ];
  return parts.join(' and ');
}
