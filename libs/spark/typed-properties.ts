import { MEMORY_FORM, MEMORY_MEANING } from './memory-text';

/** Properties whose values Spark reads alike. Blanks around a value do not count. */
interface ValueType {
  form: RegExp;
  /** Describes the form: `must be …`. */
  meaning: string;
  properties: readonly string[];
}

/** Properties whose value is easily mistyped, and with which no driver starts then. */
const TYPES: readonly ValueType[] = [
  {
    form: MEMORY_FORM,
    meaning: MEMORY_MEANING,
    properties: ['spark.driver.memory', 'spark.executor.memory'],
  },
  {
    form: /^-?\d{1,19}(?:b|[kmgtp]b?)?$/i,
    meaning: 'a whole number with or without a unit (b, k, kb, m, mb, g, gb, t, tb, p or pb), such as 512m',
    properties: [
      'spark.broadcast.blockSize',
      'spark.driver.maxResultSize',
      'spark.driver.memoryOverhead',
      'spark.executor.memoryOverhead',
      'spark.executor.pyspark.memory',
      'spark.kryoserializer.buffer',
      'spark.kryoserializer.buffer.max',
      'spark.memory.offHeap.size',
      'spark.reducer.maxSizeInFlight',
      'spark.shuffle.file.buffer',
      'spark.sql.adaptive.advisoryPartitionSizeInBytes',
      'spark.sql.autoBroadcastJoinThreshold',
      'spark.sql.files.maxPartitionBytes',
      'spark.sql.files.openCostInBytes',
    ],
  },
  {
    form: /^-?\d{1,19}(?:us|ms|s|m|min|h|d)?$/i,
    meaning: 'a whole number with or without a unit (us, ms, s, m, min, h or d), such as 120s',
    properties: [
      'spark.dynamicAllocation.cachedExecutorIdleTimeout',
      'spark.dynamicAllocation.executorIdleTimeout',
      'spark.dynamicAllocation.schedulerBacklogTimeout',
      'spark.executor.heartbeatInterval',
      'spark.files.fetchTimeout',
      'spark.locality.wait',
      'spark.network.timeout',
      'spark.rpc.askTimeout',
      'spark.sql.broadcastTimeout',
    ],
  },
  {
    form: /^\d{1,10}$/,
    meaning: 'a whole number, such as 2',
    properties: [
      'spark.cores.max',
      'spark.default.parallelism',
      'spark.driver.cores',
      'spark.dynamicAllocation.initialExecutors',
      'spark.dynamicAllocation.maxExecutors',
      'spark.dynamicAllocation.minExecutors',
      'spark.executor.cores',
      'spark.executor.instances',
      'spark.sql.shuffle.partitions',
      'spark.task.cpus',
      'spark.task.maxFailures',
    ],
  },
];

const TYPE_OF = new Map(TYPES.flatMap((type) => type.properties.map((property) => [property, type] as const)));

/** Returns what Spark requires of the value of a property: `must be …`; null if Spark can read it, or its type is not known here. */
export function requiredForm(property: string, value: string): string | null {
  const type = TYPE_OF.get(property);
  // Spark replaces a reference such as `${spark.name}` before it reads the value.
  if (!type || value.includes('${') || type.form.test(value.trim())) return null;
  return type.meaning;
}
