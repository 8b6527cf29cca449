/** Replaces what differs from run to run in a recorded answer: ids that are UUIDs, times, tokens, ports and random names. */

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const TIME = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})/g;
const JWT = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const SECRET_FIELD = /(^|_)(token|password|secret)$/;
const HOST = /\b(127\.0\.0\.1|localhost|\[::1\]):\d+/g;
const FOLDER = /\/(tmp|root|home)\/[\w./-]+/g;
const RANDOM = /(?<![0-9a-f-])[0-9a-f]{16,}\b/g;
/** Names of tenants and records in tests. */
const OWN = /\b(mine|foreign|quokka|numbat)\b/g;
/** An id of {@link FIRST_ID_OF_TESTS} and above in a sentence. */
const LARGE_ID = /\b7\d{8}\b/g;
/** Tests give some kinds of records ids from here on, so that no two kinds share an id. */
const FIRST_ID_OF_TESTS = 100_000;
const ID_FIELD = /_ids?$/;

/** The first time of an example; each later one is a minute after the one before. */
const FIRST_TIME = Date.UTC(2026, 0, 31, 8);
const MINUTE_MS = 60_000;

/**
 * @param {unknown} answer
 * @returns {unknown}
 */
export function steady(answer) {
  const text = JSON.stringify(answer);
  const times = [...new Set([...text.matchAll(TIME)].map(([time]) => new Date(time).getTime()))].toSorted(
    (a, b) => a - b,
  );
  const uuids = [...new Set([...text.matchAll(UUID)].map(([uuid]) => uuid.toLowerCase()))];
  /** @param {string} value */
  const steadyText = (value) =>
    value
      .replaceAll(
        UUID,
        (uuid) => `00000000-0000-4000-8000-${String(uuids.indexOf(uuid.toLowerCase()) + 1).padStart(12, '0')}`,
      )
      .replaceAll(TIME, (time) =>
        new Date(FIRST_TIME + times.indexOf(new Date(time).getTime()) * MINUTE_MS).toISOString(),
      )
      .replaceAll(JWT, 'header.claims.signature')
      .replaceAll(HOST, 'platform.example.org')
      .replaceAll(FOLDER, '/data/example')
      .replaceAll(RANDOM, '0123456789ab')
      .replaceAll(OWN, 'example')
      .replaceAll(LARGE_ID, '12');
  /** @type {number[]} */
  const ids = [];
  /** @param {number} id */
  const steadyId = (id) => {
    if (!ids.includes(id)) ids.push(id);
    return ids.indexOf(id) + 1;
  };
  return JSON.parse(text, (key, value) => {
    if (ID_FIELD.test(key) && /^\d+$/.test(String(value)) && Number(value) >= FIRST_ID_OF_TESTS) {
      return typeof value === 'string' ? String(steadyId(Number(value))) : steadyId(value);
    }
    if (typeof value !== 'string') return value;
    return SECRET_FIELD.test(key) && !/\s/.test(value) ? 'example-secret' : steadyText(value);
  });
}
