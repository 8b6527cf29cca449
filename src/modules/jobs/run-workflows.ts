import { defineReportedWorkflow } from '../../platform/workflows/workflow-definition';

export const START_RUN = defineReportedWorkflow({ type: 'spark_start', subject: 'run' });

export const STOP_RUN = defineReportedWorkflow({ type: 'spark_kill', subject: 'run' });
