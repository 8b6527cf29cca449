import { channel } from 'node:diagnostics_channel';
import { Injectable } from '@nestjs/common';

const POINTS = channel('platform:workflow-points');

/** Before and after the work of a step, and when its end is committed. */
export type StepMoment = 'before' | 'after' | 'committed';

export interface WorkflowPoint {
  /** Name of the job that drives the workflow. */
  workflow: string;
  step: string;
  moment: StepMoment;
}

/** Publishes each point that a workflow reaches, before the workflow goes on, on a diagnostics channel of Node. */
@Injectable()
export class WorkflowObserver {
  reached(point: WorkflowPoint): void {
    POINTS.publish(point);
  }
}
