import { SetMetadata } from '@nestjs/common';
import type { JobName, PayloadOf } from './job-catalogue';

export const JOB_HANDLER_METADATA = 'platform:job-handler';

/** Marks the class that handles these jobs. The worker does not boot if a job has no handler, or two. */
export function HandlesJobs(...names: JobName[]): ClassDecorator {
  return SetMetadata(JOB_HANDLER_METADATA, names);
}

export interface JobHandler<N extends JobName = JobName> {
  /** Handles one delivery. The same job may be delivered again at any time. An error requests a retry. */
  handle(payload: PayloadOf<N>, name: N): Promise<void>;
}
