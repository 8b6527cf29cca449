import { invalid } from '../errors/domain-error';
import { Param } from './fields';

/** Which record an operation means: by id, by name, or by both, which must then agree. */
export interface RecordSelector {
  id?: number;
  name?: string;
}

/** Base class of a query that selects one record by `<prefix>_id` or `<prefix>_name`; one of them is required. */
export function RecordSelectorQuery<P extends string>(prefix: P) {
  class SelectorQuery {
    /** The record asked for; throws 400 when neither id nor name is given. */
    selector(): RecordSelector {
      return selectorFrom(this, prefix);
    }
  }
  Param.id({ description: 'Selects the record by id' })(SelectorQuery.prototype, `${prefix}_id`);
  Param.text({ description: 'Selects the record by name' })(SelectorQuery.prototype, `${prefix}_name`);
  return SelectorQuery;
}

/** Reads `<prefix>_id` and `<prefix>_name` from a query or body; throws 400 when neither is given. */
export function selectorFrom(source: object, prefix: string): RecordSelector {
  const { [`${prefix}_id`]: id, [`${prefix}_name`]: name } = source as Record<string, unknown>;
  const selector: RecordSelector = {
    ...(typeof id === 'number' ? { id } : {}),
    ...(typeof name === 'string' ? { name } : {}),
  };
  if (selector.id === undefined && selector.name === undefined) {
    throw invalid('REQUEST.SELECTOR_MISSING', `One of ${prefix}_id or ${prefix}_name is required.`);
  }
  return selector;
}

/** How an error names the selected record. */
export function describeSelector(selector: RecordSelector): string {
  const parts = [
    ...(selector.id === undefined ? [] : [`id ${selector.id}`]),
    ...(selector.name === undefined ? [] : [`name "${selector.name}"`]),
  ];
  return parts.join(' and ');
}
