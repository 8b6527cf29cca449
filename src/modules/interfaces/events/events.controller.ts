import { once } from 'node:events';
import { Controller, Headers, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentScope, WorkspaceIfNamed } from '../../../platform/http/auth/request-principal';
import { Operation, Responses } from '../../../platform/http/operation';
import { Allow } from '../../../platform/kernel/auth/access';
import type { TenantScope, WorkspaceContext } from '../../../platform/kernel/auth/principal';
import { invalid } from '../../../platform/kernel/errors/domain-error';
import { EventsQuery } from './dto/events.dto';
import { EventHub } from './event-hub';
import { Snapshot } from './snapshot';

@Controller()
export class EventsController {
  constructor(private readonly hub: EventHub) {}

  @Operation({
    method: 'GET',
    path: '/events',
    id: 'streamEvents',
    summary: 'Stream changes of runs, notebooks, clusters and nodes as they happen',
    description:
      'Sends server-sent events without end: one for each state that a job, notebook instance, cluster or node of the tenant enters, once it is committed. `data` is an event in the JSON format of CloudEvents 1.0, `event` its kind. You get events of runs in workspaces that you may view at the moment of the event. To continue after an interruption without losing any, send the last `id` as the header `Last-Event-ID`, as browsers do by themselves; some events may arrive twice, with the same id in `data`. An event of the kind `gap` says that events were skipped: reload what you display. The stream ends when you lose access, and is closed if you read it too slowly.',
    isExtension: true,
    tag: 'Events',
    access: Allow.workspaceIfNamed('VIEW'),
    response: Responses.events,
    headers: { 'Last-Event-ID': 'The last `id` that the client received; absent to start with new events' },
  })
  async stream(
    @CurrentScope() { userId, tenantId }: TenantScope,
    @WorkspaceIfNamed() workspace: WorkspaceContext | null,
    @Query() query: EventsQuery,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() response: Response,
  ): Promise<void> {
    const since = positionOf(lastEventId || query.last_event_id);
    response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
    response.setHeader('Cache-Control', 'no-store, no-transform');
    // Proxies such as nginx would otherwise collect events.
    response.setHeader('X-Accel-Buffering', 'no');
    response.flushHeaders();
    const kinds = query.kinds ? new Set(query.kinds) : null;
    const close = this.hub.open(
      { userId, tenantId, workspaceId: workspace?.workspaceId ?? null, kinds, since },
      response,
    );
    try {
      await once(response, 'close');
    } finally {
      close();
    }
  }
}

function positionOf(text: string | undefined): Snapshot | null {
  if (!text) return null;
  const snapshot = Snapshot.parse(text);
  if (snapshot) return snapshot;
  throw invalid(
    'REQUEST.INVALID',
    'Last-Event-ID is no id of an event. Send the last one that you got, or leave it out.',
  );
}
