import { API_PREFIX } from '../../../platform/http/openapi';
import type { Transition } from './transitions.repository';

/** An event in the JSON format of CloudEvents 1.0. */
export interface CloudEvent {
  specversion: '1.0';
  /** Unique among the events of the platform. */
  id: string;
  /** Path of the record in the API. */
  source: string;
  type: string;
  subject: string;
  time: Date;
  datacontenttype: 'application/json';
  data: object;
}

/** Returns the event of a state that a record entered. */
export function eventOf(transition: Transition): CloudEvent {
  const { kind, record_id: id } = transition;
  return {
    specversion: '1.0',
    id: `${kind}-${transition.history_id}`,
    source: `/${API_PREFIX}${pathOf(transition)}`,
    type: `${kind}.transitioned`,
    subject: `${kind}/${id}`,
    time: transition.at,
    datacontenttype: 'application/json',
    data: {
      [ID_NAMES[kind]]: id,
      name: transition.name,
      ...(transition.workspace_id === null ? {} : { workspace_id: transition.workspace_id }),
      ...(kind === 'cluster' ? {} : { cluster_id: transition.cluster_id }),
      ...(transition.node_number === null ? {} : { node_number: transition.node_number }),
      ...(transition.conf_id === null ? {} : { conf_id: transition.conf_id }),
      from_status: transition.from_status,
      status: transition.status,
      reason: transition.reason,
      step: transition.step,
      created_by: transition.username,
    },
  };
}

const ID_NAMES: Readonly<Record<Transition['kind'], string>> = {
  run: 'job_id',
  notebook: 'notebook_id',
  cluster: 'cluster_id',
  node: 'node_id',
};

function pathOf({ kind, record_id: id, workspace_id: workspace, cluster_id: cluster }: Transition): string {
  if (kind === 'cluster') return `/cluster?cluster_id=${id}`;
  if (kind === 'node') return `/cluster/node/events?cluster_id=${cluster}`;
  return kind === 'run' ? `/workspace/${workspace}/spark/job/${id}` : `/workspace/${workspace}/notebook/${id}`;
}
