import { channel } from 'node:diagnostics_channel';
import { Injectable } from '@nestjs/common';

const POINTS = channel('platform:workflow-points');

/** Moments of a step: before its work, after its work, and when its end is committed. */
export type StepMoment = 'before' | 'after' | 'committed';

export interface WorkflowPoint {
  /** Name of the job that executes the workflow. */
  workflow: string;
  step: string;
  moment: StepMoment;
}

/** Publishes each point that a workflow reaches on a diagnostics channel of Node, before the workflow continues. */
@Injectable()
export class WorkflowObserver {
  reached(point: WorkflowPoint): void {
    POINTS.publish(point);
  }
}
