import type { MetastoreFault } from '../../../libs/metastore-clients/metastore-client';
import type { HostileServer } from '../http/hostile-http';

/** The fault that a client reports for each hostile server in place of a metastore. */
export const FAULTS_OF_HOSTILE_SERVERS = Object.entries({
  'never answers': 'timeout',
  'hangs up': 'unreachable',
  'sends a byte now and then': 'timeout',
  'announces 2 GB': 'too-large',
  'sends without end': 'too-large',
  'sends half of an answer': 'unreachable',
  'sends a login page': 'failed',
  'sends no JSON': 'failed',
  'sends JSON of another kind': 'failed',
  'sends deep JSON': 'too-large',
  'sends millions of values': 'too-large',
} satisfies Record<HostileServer, MetastoreFault>) as [HostileServer, MetastoreFault][];
