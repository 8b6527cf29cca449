import { SetMetadata } from '@nestjs/common';
import type { JobName, PayloadOf } from './job-catalogue';

export const JOB_HANDLER_METADATA = 'platform:job-handler';

/** Marks the one class that handles the named jobs; the worker does not boot if a job has none or two. */
export function HandlesJobs(...names: JobName[]): ClassDecorator {
  return SetMetadata(JOB_HANDLER_METADATA, names);
}

export interface JobHandler<N extends JobName = JobName> {
  /** Handles one delivery; the same job may be delivered again at any time. Throwing asks for a retry. */
  handle(payload: PayloadOf<N>, name: N): Promise<void>;
}
