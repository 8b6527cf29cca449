import type { AcceleratorKind } from '../contracts/agent-protocol';

/** Property names. A name that ends in a dot is a prefix. */
interface Owned {
  names: readonly string[];
  why: string;
}

/** Spark properties that only the platform sets. */
const OWNED: readonly Owned[] = [
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

/** Further properties that only the platform sets on clusters with the accelerator. */
const OWNED_WITH: Readonly<Record<AcceleratorKind, Owned>> = {
  turbo: {
    names: ['spark.plugins', 'spark.shuffle.manager', 'spark.memory.offHeap.'],
    why: 'the turbo of the cluster needs it',
  },
  cuda: {
    names: [
      'spark.plugins',
      'spark.rapids.memory.gpu.',
      'spark.driver.resource.gpu.',
      'spark.executor.resource.gpu.',
      'spark.task.resource.gpu.',
    ],
    why: 'the CUDA support of the cluster needs it',
  },
};

/** Returns why users cannot set a Spark property on a cluster with the accelerator; null if they can. */
export function whyOwned(property: string, accelerator?: AcceleratorKind | null): string | null {
  const owns = (name: string): boolean => (name.endsWith('.') ? property.startsWith(name) : property === name);
  const all = accelerator == null ? OWNED : [...OWNED, OWNED_WITH[accelerator]];
  return all.find(({ names }) => names.some(owns))?.why ?? null;
}

/** Spark passes these properties to its processes on command lines, or opens ports with them. */
const ON_COMMAND_LINES =
  /^spark\.(?:(?:driver|executor)\.(?:memory|extra.*|default.*)|(?:auth|rpc|network|port).*|.*\.port)$/;

/** Returns true if processes other than the job's can read the value of a property. */
export function isOnCommandLine(property: string): boolean {
  return ON_COMMAND_LINES.test(property);
}
