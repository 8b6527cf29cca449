import { Field } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';

export const STOP_DESTROYS =
  'True if a stop destroys the spot machines of the cluster with their disks, because its provider cannot stop them; the next start creates others';

@About('The workflow that carries out an operation on a cluster.')
export class CosiOperation {
  @Field.id() workflow_job_id: number;
  @Field.id() workflow_job_instance_id: number;
  @Field.id() engine_cluster_instance_id: number;
}

@About('The workflow that stops a cluster.')
export class CosiStopOperation extends CosiOperation {
  @Field.boolean({ description: STOP_DESTROYS }) stop_destroys_nodes: boolean;
}

@About('The workflow that starts the cluster.')
export class CosiStartResult {
  @Field.object(() => CosiOperation, { description: 'The workflow' }) CosiStart: CosiOperation;
}

@About('The workflow that stops the cluster.')
export class CosiStopResult {
  @Field.object(() => CosiStopOperation, { description: 'The workflow' }) CosiStop: CosiStopOperation;
}

@About('The workflow that destroys the cluster.')
export class CosiDestroyResult {
  @Field.object(() => CosiOperation, { description: 'The workflow' }) CosiDestroy: CosiOperation;
}
