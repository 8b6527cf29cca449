/** Spark properties that belong to the platform: one name, or all that begin with a name that ends in a dot. */
const OWNED: readonly { names: readonly string[]; why: string }[] = [
  { names: ['spark.master', 'spark.submit.deployMode'], why: 'the cluster of the job decides where it runs' },
  {
    names: ['spark.authenticate', 'spark.authenticate.', 'spark.network.crypto.'],
    why: 'jobs and their cluster authenticate to each other with a secret of the cluster',
  },
  { names: ['spark.eventLog.'], why: 'the event log of every job is kept with its logs' },
  {
    names: ['spark.jars.repositories', 'spark.jars.ivySettings'],
    why: 'packages come from the repositories that an administrator allows; name those in "repositories"',
  },
];

/** Why users cannot set a Spark property; null for one that they may set. */
export function whyOwned(property: string): string | null {
  const owns = (name: string): boolean => (name.endsWith('.') ? property.startsWith(name) : property === name);
  return OWNED.find(({ names }) => names.some(owns))?.why ?? null;
}

/** Properties that Spark starts its processes with, or opens ports by: their values are on command lines. */
const ON_COMMAND_LINES =
  /^spark\.(?:(?:driver|executor)\.(?:memory|extra.*|default.*)|(?:auth|rpc|network|port).*|.*\.port)$/;

/** Whether processes other than the job's could read the value of a property. */
export function isOnCommandLine(property: string): boolean {
  return ON_COMMAND_LINES.test(property);
}
