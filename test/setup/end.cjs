module.exports = require('./services.cjs').end;
