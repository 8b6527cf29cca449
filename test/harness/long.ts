/** Whether this is `npm run test:long`, which also tries what every `npm test` would take too long for. */
export const isLong = process.env['TEST_LONG'] === '1';
