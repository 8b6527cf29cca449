/** The sections of the API in the order of use, each in a sentence. */
export const TAGS = [
  { name: 'Login', description: 'Sign in with user name and password or at a provider, and sign out.' },
  { name: 'Own user', description: 'Who you are and which roles you have; choose the tenant to work in.' },
  { name: 'Personal tokens', description: 'Tokens for your programs, each bound to a tenant.' },
  { name: 'Tenants', description: 'Make, find, change and delete tenants.' },
  { name: 'Users', description: 'Accounts of people and programs.' },
  { name: 'Groups', description: 'Groups of users, to give roles and workspaces to all members at once.' },
  { name: 'Directory', description: 'Import accounts and groups from LDAP or the identity provider.' },
  { name: 'Tenant administration', description: 'Who belongs to the selected tenant, and with which roles.' },
  { name: 'Platform administration', description: 'Who belongs to any tenant, and with which roles.' },
  { name: 'Access rules', description: 'Which role may call which operation.' },
  {
    name: 'Lookups',
    description: 'What you can choose from: cloud providers, machine types, Spark versions and the like.',
  },
  {
    name: 'Infrastructure',
    description:
      'What clusters are described by: credentials, networks, images, disks, machines; and where packages come from.',
  },
  { name: 'Object storage', description: 'Buckets of your object stores, and the files in them.' },
  { name: 'Mounts', description: 'Directories of buckets that jobs read and write by plain paths.' },
  { name: 'Metastores', description: 'Catalogs of tables in Hive metastores, AWS Glue and Unity Catalog.' },
  { name: 'Clusters', description: 'Describe Spark clusters, start, stop and destroy them, and see what they do.' },
  { name: 'Workspaces', description: 'Shared places for the files and jobs of a team.' },
  { name: 'Workspace access', description: 'Who may view, run, edit or manage what is in a workspace.' },
  { name: 'Workspace files', description: 'Scripts and data of a workspace.' },
  {
    name: 'Secrets',
    description: 'Secrets of the tenant, of workspaces and of your own, for metastores, object stores and jobs.',
  },
  {
    name: 'Secrets of metastores',
    description: 'Which secrets open the metastore of a catalog and the store of its tables.',
  },
  { name: 'Metastore browsing', description: 'Look through metastores, and try secrets on them.' },
  { name: 'Jobs', description: 'Describe jobs, run them on clusters, follow their states and logs.' },
  { name: 'Notebooks', description: 'Write notebooks and run them: their cells, their kernels, and sockets to them.' },
  { name: 'Billing', description: 'What ran for whom and for how long, and what it costs.' },
  { name: 'Audit log', description: 'Who changed what, from where and with which outcome.' },
  { name: 'Probes', description: 'Whether the service is alive and ready, and which version it has.' },
] as const;
