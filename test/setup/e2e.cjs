const { prepare } = require('./services.cjs');

module.exports = () => prepare('services', 'runtime', 'sql-client', 'python-sdk', 'clouds', 'build');
