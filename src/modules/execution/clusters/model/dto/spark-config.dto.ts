import { Field } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';

const SECRETS = (what: string) =>
  `${what} to the name of a secret of type ENVIRONMENT VARIABLE. It is taken from the user who runs the job, or else from its ` +
  'workspace, or else from the tenant. At most 100; null for none';

/** Spark settings of a cluster that its jobs inherit. */
@About('Spark settings of a cluster, placed before those of its jobs: if entries conflict, the last one wins.')
export class SparkConfig {
  @Field.texts({
    optional: true,
    nullable: true,
    description:
      'Spark properties, "key value" or "key=value" each, whose value may contain blanks. The platform\'s own are excluded. A size, time or number of a ' +
      'common property must be one that Spark can read; null for none',
  })
  conf?: string[] | null;
  @Field.texts({
    optional: true,
    nullable: true,
    description: 'Maven coordinates (group:artifact:version) of libraries; null for none',
  })
  packages?: string[] | null;
  @Field.texts({
    optional: true,
    nullable: true,
    description: 'URLs of dependency repositories of the tenant, for packages; null for none',
  })
  repositories?: string[] | null;
  @Field.texts({
    optional: true,
    nullable: true,
    description:
      'Jar files of the driver and executors: paths in the workspace of the job, full_file_paths of the object storage manager of the cluster, or URIs that Spark reads; null for none',
  })
  jars?: string[] | null;
  @Field.texts({
    optional: true,
    nullable: true,
    description:
      'Archives for the driver and executors, `path#folder` unpacked to that folder: paths in the workspace of the job, full_file_paths of the object storage manager of the cluster, or URIs that Spark reads; null for none',
  })
  archives?: string[] | null;
  @Field.texts({
    optional: true,
    nullable: true,
    description: 'Environment variables of the drivers, KEY=VALUE each; null for none',
  })
  env_var?: string[] | null;
  @Field.map({ optional: true, nullable: true, description: SECRETS('Spark property') })
  conf_secret?: Record<string, unknown> | null;
  @Field.map({ optional: true, nullable: true, description: SECRETS('Environment variable') })
  env_var_secret?: Record<string, unknown> | null;
  @Field.texts({
    optional: true,
    nullable: true,
    description:
      'Files that programs can read: paths in the workspace of the job, full_file_paths of the object storage manager of the cluster, or URIs that Spark reads; null for none',
  })
  files?: string[] | null;
  @Field.texts({
    optional: true,
    nullable: true,
    description:
      "Python files and zip files on Python's path: paths in the workspace of the job, full_file_paths of the object storage manager of the cluster, or URIs that Spark reads; null for none",
  })
  'py-files'?: string[] | null;
}

export const SPARK_CONFIG_KEYS = [
  'conf',
  'packages',
  'repositories',
  'jars',
  'archives',
  'env_var',
  'conf_secret',
  'env_var_secret',
  'files',
  'py-files',
] as const satisfies readonly (keyof SparkConfig)[];
