const { prepare } = require('./services.cjs');

module.exports = () => prepare('services', 'runtime', 'clouds', 'build');
