import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, type Moment } from '../../../../../platform/kernel/persistence/columns';
import { KeepsInUse } from '../../../../../platform/http/resources/record-kind';

/**
 * A place in which nodes were ever planned: the credentials for its provider, and when it is next searched for machines
 * without a node. It outlives the environments that it was derived from, because an unknown machine stays where it is.
 */
@Entity('machine_places')
@Unique('uq_machine_places_tenant_id', ['tenant_id', 'machine_place_id'])
@Unique('uq_machine_places', [
  ...['credentials_conf_id', 'cloud_provider_id', 'endpoint', 'account', 'region', 'tenant_id'],
])
@Index('ix_machine_places_due', ['due_at'])
@ForeignKey('CredentialsConf', ['tenant_id', 'credentials_conf_id'], ['tenant_id', 'credentials_conf_id'], {
  name: 'fk_machine_places_credentials_conf',
})
@KeepsInUse({
  kept: 'CredentialsConf',
  column: 'credentials_conf_id',
  joins: `JOIN cluster_nodes n ON n.machine_place_id = t.machine_place_id AND n.to_date = 'infinity'
    JOIN clusters c ON c.cluster_id = n.cluster_id`,
  condition: 'true',
  columns: 'DISTINCT c.cluster_id, c.name, c.status',
  code: 'CREDENTIALS_CONF.OWNS_MACHINES',
  named: ({ name, status }) => `"${String(name)}" (${String(status)})`,
  message: (names) =>
    `The credentials configuration may own machines of the clusters ${names}. Destroy the clusters first: without the credentials, their machines cannot be removed.`,
  details: (clusters) => ({ clusters }),
})
@KeepsInUse({
  kept: 'CredentialsConf',
  column: 'credentials_conf_id',
  // A machine that was not seen again within an hour is not known to exist.
  condition: `t.orphans > 0 AND t.swept_at > platform_now() - interval '1 hour'`,
  columns: 't.machine_place_id, t.orphans',
  code: 'CREDENTIALS_CONF.OWNS_MACHINES',
  named: ({ orphans }) => String(orphans),
  message: () =>
    'The credentials configuration owns machines that belong to no cluster. They are being removed. Try again in some minutes.',
  details: (places) => ({ machines: places.reduce((sum, { orphans }) => sum + Number(orphans), 0) }),
})
export class MachinePlace {
  @Col.identity('pk_machine_places') machine_place_id: number;
  @Col.uuid() tenant_id: string;
  @Col.bigint() credentials_conf_id: number;
  @ForeignKey('CloudProvider', { name: 'fk_machine_places_cloud_provider' })
  @Col.int()
  cloud_provider_id: number;
  /** Endpoint, account and region are empty if they do not limit a list call of the provider. */
  @Col.text() endpoint: string;
  @Col.text() account: string;
  @Col.text() region: string;
  /** Infinity once nothing can be left there. */
  @Col.time({ default: () => 'platform_now()' }) due_at: Moment;
  @Col.int({ default: 0 }) failures: number;
  /** Time of the last complete sweep. */
  @Col.time({ nullable: true }) swept_at: Date | null;
  /** Number of nodes without a cluster that had resources there at the last sweep. */
  @Col.int({ default: 0 }) orphans: number;
  /** Since when no live node belongs there and nothing was found. */
  @Col.time({ nullable: true }) quiet_since: Date | null;
}
