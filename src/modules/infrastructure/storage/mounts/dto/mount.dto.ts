import { WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { STORAGE_TYPES } from '../../../../foundation/reference-data';

export class MountSelector extends RecordSelectorQuery('mount') {}

export class MountListQuery extends PageQuery {
  @Param.someOf(STORAGE_TYPES, { description: 'Only mounts of stores of these types' }) storage_types?: string[];
  @Param.text({ description: 'Part of the name, ignoring case' }) mount_name?: string;
  @Param.id({ description: 'Only mounts that this cluster does not have' }) exclude_cluster_id?: number;
}

const NAME = {
  minLength: 1,
  maxLength: 250,
  // Names appear in messages and logs, so they must be one printable line.
  pattern: /^(?=\S)[^\p{Cc}\p{Zl}\p{Zp}]*\S$/u,
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  publishedPattern: /^[^\x00-\x1f\x7f-\x9f]+$/,
  meaning: 'one line without control characters and without white space at either end',
};
const SOURCE = {
  minLength: 1,
  maxLength: 1000,
  description:
    's3a://bucket/path, gs://bucket/path, abfss://container@account.dfs.core.windows.net/path or bucket/path',
};
const MOUNT_POINT = {
  minLength: 1,
  maxLength: 1000,
  description: 'Path of the mount in jobs: absolute and outside system directories, for example /mnt/data',
};
const EXTRA_CONFIGS = {
  optional: true,
  nullable: true,
  description:
    'Additional Hadoop properties of the store, for example fs.s3a.connection.maximum, and no credentials; null for none',
};
const CREDENTIALS = { description: 'Same provider as the storage type; Custom S3 needs S3-compatible credentials' };

@Example({
  name: 'Example data',
  storage_type_id: 3,
  source: 'example-bucket/data',
  mount_point: '/mnt/example',
  credentials_config_id: 2,
})
@About('A directory of a bucket for jobs.')
export class CreateMount {
  @Field.text({ ...NAME, description: 'Name of the mount: one line of 1 to 250 characters, unique in the tenant' })
  name: string;
  @Field.id() storage_type_id: number;
  @Field.id({
    optional: true,
    nullable: true,
    description: "Must belong to the same provider; null uses the store's default encryption",
  })
  encryption_type_id?: number | null;
  @Field.text(SOURCE) source: string;
  @Field.text(MOUNT_POINT) mount_point: string;
  @Field.map(EXTRA_CONFIGS) extra_configs?: Record<string, unknown> | null;
  @Field.boolean({ default: false, description: 'True if jobs can only read the mount' }) is_read_only: boolean = false;
  @Field.id(CREDENTIALS) credentials_config_id: number;
}

@Example({ is_read_only: true })
@About('Changes to a mount; at least one. Absent fields keep their values.')
export class UpdateMount {
  @Field.text({
    ...NAME,
    optional: true,
    description: 'New name of the mount: one line of 1 to 250 characters, unique in the tenant',
  })
  name?: string;
  @Field.text({ ...SOURCE, optional: true }) source?: string;
  @Field.text({ ...MOUNT_POINT, optional: true }) mount_point?: string;
  @Field.map(EXTRA_CONFIGS) extra_configs?: Record<string, unknown> | null;
  @Field.boolean({ optional: true }) is_read_only?: boolean;
  @Field.id({ ...CREDENTIALS, optional: true }) credentials_config_id?: number;
}

@About('A mount as returned by a write. Ids are decimal strings.')
export class MountWrite extends WriteAudit {
  @Field.idText() mount_id: string;
  @Field.text({ description: 'Name of the mount, unique in the tenant' }) name: string;
  @Field.idText() storage_type_id: string;
  @Field.idText({ nullable: true }) encryption_type_id: string | null;
  @Field.text() source: string;
  @Field.text() mount_point: string;
  @Field.map({ nullable: true }) extra_configs: Record<string, unknown> | null;
  @Field.boolean() is_read_only: boolean;
  @Field.idText({ description: 'Id of the credentials of the store' }) credentials_config_id: string;
  @Field.uuid() tenant_id: string;
}
