/**
 * Loaded into the built worker before its own code: kills the process, as kill -9 would, at the point of a workflow that
 * TEST_CRASH_POINT names as `<workflow>:<step>:<moment>`.
 */
const { subscribe } = require('node:diagnostics_channel');

const crashPoint = process.env.TEST_CRASH_POINT;

subscribe('platform:workflow-points', ({ workflow, step, moment }) => {
  if (crashPoint === `${workflow}:${step}:${moment}`) process.kill(process.pid, 'SIGKILL');
});
