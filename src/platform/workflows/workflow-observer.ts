import { Injectable } from '@nestjs/common';

/** Before and after the work of a step, and when its end is committed. */
export type StepMoment = 'before' | 'after' | 'committed';

export interface WorkflowPoint {
  /** Name of the job that drives the workflow. */
  workflow: string;
  step: string;
  moment: StepMoment;
}

/** Is told of each point that a workflow reaches. This one does nothing; tests replace it. */
@Injectable()
export class WorkflowObserver {
  reached(_point: WorkflowPoint): void {
    return;
  }
}
