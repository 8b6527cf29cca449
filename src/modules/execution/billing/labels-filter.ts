import { parseUntrusted, SHORT_JSON } from '../../../../libs/json/parse-json';
import { invalid } from '../../../platform/kernel/errors/domain-error';

/** More pairs than a cluster can have. */
const MAX_PAIRS = 50;
/** What PostgreSQL cannot keep in JSON, so that no label has it: NUL, and half of a surrogate pair. */
const UNKEPT = /\0|\p{Surrogate}/u;

/** The text of a JSON object whose pairs labels must have; throws a 400 for anything else. */
export function labelsFilter(text: string): string {
  const labels = parsed(text);
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels)) throw refused('it is not a JSON object');
  const pairs = Object.entries(labels);
  if (pairs.length > MAX_PAIRS) throw refused(`it has more than ${MAX_PAIRS} pairs`);
  for (const [key, value] of pairs) {
    if (typeof value !== 'string') throw refused('each value must be a string');
    if (UNKEPT.test(key) || UNKEPT.test(value)) throw refused('it has characters that no label can have');
  }
  return JSON.stringify(labels);
}

function parsed(text: string): unknown {
  try {
    return parseUntrusted(text, SHORT_JSON);
  } catch {
    throw refused('it is not JSON');
  }
}

function refused(why: string) {
  return invalid(
    'BILLING.INVALID_LABELS',
    `"labels" must be a JSON object of strings, such as {"team":"analytics"}: ${why}.`,
  );
}
