import { Field } from '../../../../../platform/kernel/dto/fields';

export const STOP_DESTROYS =
  'An extension of this platform: true if a stop destroys the spot machines of the cluster with their disks, because its provider cannot stop them; the next start creates others';

export class CosiOperation {
  @Field.id() workflow_job_id: number;
  @Field.id() workflow_job_instance_id: number;
  @Field.id() engine_cluster_instance_id: number;
}

export class CosiStopOperation extends CosiOperation {
  @Field.boolean({ description: STOP_DESTROYS }) stop_destroys_nodes: boolean;
}

export class CosiStartResult {
  @Field.object(() => CosiOperation) CosiStart: CosiOperation;
}

export class CosiStopResult {
  @Field.object(() => CosiStopOperation) CosiStop: CosiStopOperation;
}

export class CosiDestroyResult {
  @Field.object(() => CosiOperation) CosiDestroy: CosiOperation;
}
