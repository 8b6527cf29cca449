/**
 * @param {readonly number[]} values in any order
 * @param {number} share from 0 to 1
 * @returns {number} the smallest value that this share of them does not exceed; NaN of none
 */
export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}
