/** True in `npm run test:long`, which also runs cases that take too long for every `npm test`. */
export const isLong = process.env['TEST_LONG'] === '1';
