const { end } = require('./services.cjs');
const { endSharedPlatform } = require('./shared-platforms.cjs');

/** @param {unknown} _all @param {{displayName?: {name: string}}} project */
module.exports = async (_all, { displayName }) => {
  try {
    await endSharedPlatform(displayName?.name ?? '');
  } finally {
    await end();
  }
};
