import { parseUntrusted, SHORT_JSON } from '../../../../libs/json/parse-json';
import { invalid } from '../../../platform/kernel/errors/domain-error';

/** A cluster cannot have more pairs. */
const MAX_PAIRS = 50;
/** Characters that PostgreSQL cannot store in JSON, so that no label has them: NUL and unpaired surrogates. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Parses a JSON object of pairs that labels must have, and returns it as text. Throws a 400 for anything else. */
export function labelsFilter(text: string): string {
  const labels = parsed(text);
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels))
    throw invalidLabels('it is not a JSON object');
  const pairs = Object.entries(labels);
  if (pairs.length > MAX_PAIRS) throw invalidLabels(`it has more than ${MAX_PAIRS} pairs`);
  for (const [key, value] of pairs) {
    if (typeof value !== 'string') throw invalidLabels('each value must be a string');
    if (UNSTORABLE.test(key) || UNSTORABLE.test(value)) throw invalidLabels('it has characters that no label can have');
  }
  return JSON.stringify(labels);
}

function parsed(text: string): unknown {
  try {
    return parseUntrusted(text, SHORT_JSON);
  } catch {
    throw invalidLabels('it is not JSON');
  }
}

function invalidLabels(reason: string) {
  return invalid(
    'BILLING.INVALID_LABELS',
    `"labels" must be a JSON object of strings, such as {"team":"analytics"}: ${reason}.`,
  );
}
