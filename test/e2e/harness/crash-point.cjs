/**
 * Loaded into the built worker before its own code: kills the process, as kill -9 would, at the point of a workflow that
 * TEST_CRASH_POINT names as `<workflow>:<step>:<moment>`.
 */
const { WorkflowObserver } = require('../../../dist/src/platform/workflows/workflow-observer.js');

const crashPoint = process.env.TEST_CRASH_POINT;

WorkflowObserver.prototype.reached = ({ workflow, step, moment }) => {
  if (crashPoint === `${workflow}:${step}:${moment}`) process.kill(process.pid, 'SIGKILL');
};
