const { prepare } = require('./services.cjs');

// Only a test that takes longer needs Airflow, which is a download of a hundred packages.
const long = process.env.TEST_LONG === '1' ? ['airflow', 'dagster'] : [];

module.exports = () => prepare('services', 'runtime', 'sql-client', 'python-sdk', 'clouds', 'build', ...long);
