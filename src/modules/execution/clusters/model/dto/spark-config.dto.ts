import { Field } from '../../../../../platform/kernel/dto/fields';

const SECRETS = (what: string) =>
  `${what} to the name of a secret of type ENVIRONMENT VARIABLE. It is taken from the user who runs the job, or else from its ` +
  'workspace, or else from the tenant. At most 100; null for none';

/** Spark settings of a cluster that its jobs inherit. */
export class SparkConfig {
  @Field.texts({
    optional: true,
    nullable: true,
    description:
      'Spark properties, "key value" or "key=value" each, whose value may contain blanks. The platform\'s own are excluded',
  })
  conf?: string[] | null;
  @Field.texts({ optional: true, nullable: true, description: 'Maven coordinates' }) packages?: string[] | null;
  @Field.texts({ optional: true, nullable: true, description: 'URLs of dependency repositories of the tenant' })
  repositories?: string[] | null;
  @Field.texts({ optional: true, nullable: true }) jars?: string[] | null;
  @Field.texts({ optional: true, nullable: true }) archives?: string[] | null;
  @Field.texts({ optional: true, nullable: true, description: 'KEY=VALUE each' }) env_var?: string[] | null;
  @Field.map({ optional: true, nullable: true, description: SECRETS('Spark property') })
  conf_secret?: Record<string, unknown> | null;
  @Field.map({ optional: true, nullable: true, description: SECRETS('Environment variable') })
  env_var_secret?: Record<string, unknown> | null;
  @Field.texts({ optional: true, nullable: true }) files?: string[] | null;
  @Field.texts({ optional: true, nullable: true }) 'py-files'?: string[] | null;
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
