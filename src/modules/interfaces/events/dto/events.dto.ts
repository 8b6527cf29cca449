import { Param } from '../../../../platform/kernel/dto/fields';
import { EVENT_KINDS, type EventKind } from '../transitions.repository';

export class EventsQuery {
  @Param.id({
    description: 'Only events of runs of this workspace; none of clusters and nodes, which belong to no workspace',
  })
  workspace_id?: number;
  @Param.text({ description: 'Only events of runs of the workspace with this name' }) workspace_name?: string;
  @Param.someOf(EVENT_KINDS, { description: 'Only events of these kinds; of all kinds if it is absent' })
  kinds?: EventKind[];
  @Param.text({
    maxLength: 16_000,
    description:
      'The last `id` that the client received, for clients that cannot send the header Last-Event-ID, which wins',
  })
  last_event_id?: string;
}
