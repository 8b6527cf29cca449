import type { CreateJobConf, UpdateJobConf } from '../../src/modules/execution/runs/jobs/dto/job-conf.dto';
import type { RunConfiguration } from '../../src/modules/execution/runs/jobs/entities/run-configuration.entity';
import { type Request, sample } from './sample';

type Needed = 'cluster_id' | 'workspace_id';

/** The configuration of a Python job; it belongs to a workspace. */
export const jobConf = sample<Request<CreateJobConf, 'job_type'>, UpdateJobConf, RunConfiguration, Needed>({
  path: '/workspace/{workspace_id}/spark/job/conf',
  body: ({ cluster_id }) => ({ cluster_id, job_type: 'Python3', command: 'job.py' }),
  change: { driver_memory: '2g' },
  row: ({ cluster_id, workspace_id }) => {
    return { cluster_id, workspace_id, job_type: 'SPARK_JOB', language: 'Python3', max_concurrency: 0 };
  },
});
