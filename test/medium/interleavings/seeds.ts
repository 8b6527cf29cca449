import { isLong } from '../../harness/long';

/** Of one test: few enough that a failure comes soon, and the test within its deadline. */
const AT_ONCE = 20;

/**
 * The seeds of a test run in ranges, first and last; with TEST_SEED, that one only, as the message of a failure names it.
 */
export function seedsOf(usual: number, long: number): [number, number][] {
  const only = process.env['TEST_SEED'];
  if (only) return [[Number(only), Number(only)]];
  const count = isLong ? long : usual;
  return Array.from({ length: Math.ceil(count / AT_ONCE) }, (_, index) => [
    index * AT_ONCE + 1,
    Math.min(count, (index + 1) * AT_ONCE),
  ]);
}
