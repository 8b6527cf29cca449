import { nameEnum } from '../../../../platform/kernel/dto/named-enums';

/** Enumerated values of the lookups, from the API specification. */
export const CLUSTER_TYPES = nameEnum(
  'ClusterType',
  ['PLATFORM', 'STANDALONE', 'CLUSTER'],
  'How Spark runs on the nodes of a cluster.',
  {
    PLATFORM: "Spark's local mode on each node",
    STANDALONE: 'a Spark cluster of its own on each node',
    CLUSTER: 'one node runs the Spark master, the others run workers',
  },
);
export const CLUSTER_NODE_STATUSES = nameEnum(
  'ClusterNodeStatus',
  ['INITIATING', 'RUNNING', 'STOPPING', 'STOPPED', 'DESTROYING', 'DESTROYED', 'ERROR'],
  'State of a node.',
  {
    INITIATING: 'its machine is created or started, and its agent and daemons start',
    RUNNING: 'it accepts jobs',
    STOPPING: 'its machine is about to stop',
    STOPPED: 'its machine is stopped and can be started again',
    DESTROYING: 'its machine is about to be deleted',
    DESTROYED: 'its machine is deleted',
    ERROR: 'it failed; the reason is in the history of the node',
  },
);
export const CLUSTER_STATUSES = nameEnum(
  'ClusterStatus',
  [...CLUSTER_NODE_STATUSES, 'RESIZING_UP', 'RESIZING_DOWN'],
  'State of a cluster.',
  {
    INITIATING: 'its nodes start',
    RUNNING: 'it accepts jobs',
    STOPPING: 'its nodes stop',
    STOPPED: 'it has no running nodes and can be started',
    DESTROYING: 'its nodes are about to be deleted',
    DESTROYED: 'its nodes are deleted; it can be enabled and started again',
    ERROR: 'a start, stop or resize failed; the reason is in the history of the cluster',
    RESIZING_UP: 'it accepts jobs while nodes are added',
    RESIZING_DOWN: 'it accepts jobs while nodes are removed',
  },
);
export const SPARK_JOB_TYPES = nameEnum(
  'JobType',
  ['SPARK_JOB', 'SPARK_SQL', 'NOTEBOOK', 'THRIFT_SQL', 'PLATFORM_FUNCTIONS', 'JAR'],
  'Type of a job.',
  {
    SPARK_JOB: 'a script in Python, Scala or SQL',
    SPARK_SQL: 'only in filters; no job has it',
    NOTEBOOK: 'a kernel for the cells of a notebook',
    THRIFT_SQL: 'a server for SQL clients',
    PLATFORM_FUNCTIONS: 'a Python function that answers calls',
    JAR: 'a class of a jar file',
  },
);
export const JOB_TYPE_DISPLAY_NAMES = nameEnum(
  'JobTypeName',
  ['Custom Code', 'Notebook', 'Thrift SQL', 'Functions', 'JAR'],
  'Display name of a job type.',
);
export const CATALOG_TYPES = nameEnum('CatalogType', ['HIVE', 'DATABRICKS UNITY', 'AWS GLUE'], 'Type of a metastore.', {
  HIVE: 'a Hive metastore',
  'DATABRICKS UNITY': 'a Unity Catalog server, including the open-source one',
});
export type CatalogTypeName = (typeof CATALOG_TYPES)[number];
export const SECRET_TYPES = nameEnum(
  'SecretType',
  [
    'HIVE KERBEROS',
    'HIVE BASIC',
    'DATABRICKS UNITY TOKEN',
    'ENVIRONMENT VARIABLE',
    'AWS ACCESS SECRET KEY PAIR',
    'AZURE SERVICE PRINCIPAL',
    'GOOGLE SERVICE ACCOUNT',
  ],
  'Type of a secret: what it gives access to, which determines its values.',
  {
    'HIVE KERBEROS': 'a principal and its keytab, for a Hive metastore',
    'HIVE BASIC': 'a user name and a password, for a Hive metastore',
    'DATABRICKS UNITY TOKEN': 'a token for Unity Catalog',
    'ENVIRONMENT VARIABLE': 'a value that jobs get in a variable or a Spark property',
    'AWS ACCESS SECRET KEY PAIR': 'an access key, for S3 and AWS Glue',
    'AZURE SERVICE PRINCIPAL': 'an application and its secret, for ADLS Gen2',
    'GOOGLE SERVICE ACCOUNT': 'the key of a service account, for Google Cloud Storage',
  },
);
export const SECRET_SUPPORTS = nameEnum(
  'SecretUse',
  ['unity', 'hive', 'storage'],
  'What a type of secret gives access to.',
  {
    unity: 'Unity Catalog',
    hive: 'a Hive metastore',
    storage: 'an object store',
  },
);
export const GIT_PROVIDERS = nameEnum(
  'GitProvider',
  ['GitHub', 'GitLab', 'BitBucket Cloud', 'Azure DevOps Services'],
  'A host of Git repositories.',
);
