import { isLong } from '../../harness/long';

/** The seeds of one test: few enough for an early failure and the deadline of the test. */
const SEEDS_PER_TEST = 20;

/**
 * Returns the seeds of a test run as ranges, first and last; with TEST_SEED, which a failure names, only that seed.
 */
export function seedsOf(usual: number, long: number): [number, number][] {
  const only = process.env['TEST_SEED'];
  if (only) return [[Number(only), Number(only)]];
  const count = isLong ? long : usual;
  return Array.from({ length: Math.ceil(count / SEEDS_PER_TEST) }, (_, index) => [
    index * SEEDS_PER_TEST + 1,
    Math.min(count, (index + 1) * SEEDS_PER_TEST),
  ]);
}
