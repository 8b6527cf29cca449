/** Enumerated values of the lookups, from the API specification. */
export const CLUSTER_TYPES = ['PLATFORM', 'STANDALONE', 'CLUSTER'] as const;
export const CLUSTER_NODE_STATUSES = [
  'INITIATING',
  'RUNNING',
  'STOPPING',
  'STOPPED',
  'DESTROYING',
  'DESTROYED',
  'ERROR',
] as const;
export const CLUSTER_STATUSES = [...CLUSTER_NODE_STATUSES, 'RESIZING_UP', 'RESIZING_DOWN'] as const;
export const SPARK_JOB_TYPES = [
  'SPARK_JOB',
  'SPARK_SQL',
  'NOTEBOOK',
  'THRIFT_SQL',
  'PLATFORM_FUNCTIONS',
  'JAR',
] as const;
export const JOB_TYPE_DISPLAY_NAMES = ['Custom Code', 'Notebook', 'Thrift SQL', 'Functions', 'JAR'] as const;
export const CATALOG_TYPES = ['HIVE', 'DATABRICKS UNITY', 'AWS GLUE'] as const;
export type CatalogTypeName = (typeof CATALOG_TYPES)[number];
export const SECRET_TYPES = [
  'HIVE KERBEROS',
  'HIVE BASIC',
  'DATABRICKS UNITY TOKEN',
  'ENVIRONMENT VARIABLE',
  'AWS ACCESS SECRET KEY PAIR',
  'AZURE SERVICE PRINCIPAL',
  'GOOGLE SERVICE ACCOUNT',
] as const;
export const SECRET_SUPPORTS = ['unity', 'hive', 'storage'] as const;
export const GIT_PROVIDERS = ['GitHub', 'GitLab', 'BitBucket Cloud', 'Azure DevOps Services'] as const;
