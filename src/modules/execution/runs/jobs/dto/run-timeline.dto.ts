import { nameEnum } from '../../../../../platform/kernel/dto/named-enums';
import { Field } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';
import { RUN_RESOURCES } from '../job-types';
import { REASON_CODES } from '../reason-codes';
import { RUN_STATUSES } from '../run-state';

export const RUN_PHASES = nameEnum(
  'RunPhaseName',
  ['WAITING_FOR_CLUSTER', 'WAITING_FOR_SLOT', 'STARTING', 'RUNNING', 'STOPPING'],
  'What a run does, or waits for.',
  {
    WAITING_FOR_CLUSTER: 'until its cluster has started',
    WAITING_FOR_SLOT: 'until a node has a free slot',
    STARTING: 'until its process runs',
    STOPPING: 'from a request to stop until its end',
  },
);
export type RunPhaseName = (typeof RUN_PHASES)[number];

const TIMELINE_SUBJECTS = nameEnum('TimelineSubject', ['run', 'cluster', 'node'], 'Whose state it is.');

/** States of the cluster and of nodes that a timeline has at most, each. */
export const MAX_TIMELINE_STATES = 500;

@About('A phase of a run: what it did or waited for during that time.')
export class RunPhase {
  @Field.oneOf(RUN_PHASES, { description: 'What the run does, or waits for' })
  phase: RunPhaseName;
  @Field.timestamp({ description: 'When the phase began' }) from_date: Date;
  @Field.timestamp({ nullable: true, description: 'When the phase ended; null for the present one' })
  to_date: Date | null;
}

@About('A state that the run, its cluster or a node of the cluster entered.')
export class RunTimelineEntry {
  @Field.oneOf(TIMELINE_SUBJECTS, { description: 'Whose state it is' }) subject: string;
  @Field.int64({ nullable: true, description: 'Number of the node; null if it is no state of a node' })
  node_number: number | null;
  @Field.boolean({ description: 'True for states of the node that has or had the run' }) is_node_of_run: boolean;
  @Field.text({ description: 'The state: a status of a run, a cluster or a node', example: 'RUNNING' }) status: string;
  @Field.text({ nullable: true, description: 'Name of the user who caused it; null if the platform did' }) created_by:
    | string
    | null;
  @Field.text({ nullable: true, description: 'Why the state was entered; null if there is nothing to say' }) reason:
    | string
    | null;
  @Field.text({
    nullable: true,
    description: 'Step of the workflow, or of the work on the run, in which it was entered; null without one',
  })
  step: string | null;
  @Field.timestamp({ description: 'When the state was entered' }) from_date: Date;
  @Field.timestamp({ nullable: true, description: 'When the state was left; null for the present one' })
  to_date: Date | null;
}

@About('The course of a run, from its submission to its end.')
export class RunTimeline {
  @Field.id() run_id: number;
  @Field.oneOf(RUN_RESOURCES, { description: 'job or notebook' }) resource: string;
  @Field.oneOf(RUN_STATUSES, { description: 'Status of the run now' }) run_status: string;
  @Field.timestamp({ description: 'When the run was submitted' }) submit_date: Date;
  @Field.timestamp({ nullable: true, description: 'When it got a slot on a node; null while it waits for one' })
  start_date: Date | null;
  @Field.timestamp({ nullable: true, description: 'When the run ended; null until then' }) end_date: Date | null;
  @Field.oneOf(REASON_CODES, { nullable: true, description: 'Why the run ended; null until then' })
  reason_code: string | null;
  @Field.text({ nullable: true, description: 'Why the run ended, in plain words; null until then' }) reason:
    | string
    | null;
  @Field.text({ nullable: true, description: 'What to do about the end of the run; null if there is nothing to do' })
  remedy: string | null;
  @Field.objects(() => RunPhase, { description: 'Phases without gaps from submission to end, or until now' })
  phases: RunPhase[];
  @Field.objects(() => RunTimelineEntry, {
    description: `States of the run; the state of its cluster when it was submitted, and those that the cluster and its nodes entered until it ended, at most ${MAX_TIMELINE_STATES} of each; oldest first`,
  })
  entries: RunTimelineEntry[];
  @Field.boolean({ description: 'True if the cluster or its nodes entered more states than are listed' })
  is_truncated: boolean;
  @Field.text({
    nullable: true,
    description:
      'Path below the base of the API that returns the stages of the Spark application with their times; null for notebooks',
  })
  stages_path: string | null;
}
