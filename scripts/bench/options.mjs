import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { INTERACTIVE } from './interactive.mjs';

const MEASUREMENTS = [
  'job',
  'follow',
  'cluster',
  'grow',
  'nodes',
  'idle',
  'get',
  ...INTERACTIVE,
  'lookup',
  'page',
  'list',
  'search',
  'transfer',
  'latency',
  'body',
  'recovery',
  'submit',
  'agent',
  'restart',
  'reads',
  'destroy',
  'copy',
  'permission',
  'metastore',
  'billing',
  'autoscaler',
  'sweep',
  'console',
  'start',
  'events',
];
/** Measured only on request, because they take more than ten minutes. */
const LONG = ['growth', 'peers'];
const ROUNDS = 7;
/** Kills of a worker, unless --rounds gives another number. */
const KILLS = 50;

export const HELP = `Usage: npm run bench [-- options]

Measures the platform against the same work done by hand, in turns, and prints the ratios with their goals:
  job      POST of a small PySpark job to DONE, against spark-submit on the same master
  follow   first line of a job to its first byte at a follower of its log; the slowest of several jobs
  cluster  start of a cluster to RUNNING, against starting the same daemons by hand
  grow     POST of a job that finds no slot to its start on a node that is added for it, against the start of a cluster of one
  nodes    start of a local PLATFORM cluster of ten nodes, against one of one
  idle     transactions a second of a platform with a running cluster of one node and no work, and its statements
  get      GET of a cluster by id, against an Express handler with the same prepared query
  kernel   a cell "1" of a notebook to its reply, over a WebSocket to another process of the API than the agent's, against
           jupyter_client with the same kernel: what is added to p50 and p99
  printed  a cell that prints 200,000 lines, 760 KiB, to its reply, against jupyter_client with the same kernel
  first-spark  POST of an instance of a notebook to the reply of a cell with Spark, against starting the same kernel by
           jupyter_client
  function invocations a second of an empty function by 8 clients, and what is added to a call within Python
  thrift   fetching 1,000,000 rows of a table in steps of 10,000 and 1,000 from a job that serves SQL, against Spark's own
           Thrift server on the loopback interface
  sockets  memory of the API with 1,000 sockets to a kernel that prints; and one socket that reads nothing, beside others
  lookup   GET of a lookup, signed in, against an Express handler without authentication that serialized it once
  page     GET of a page of 100 of 1,000 configurations, against an Express handler with the same prepared statements
  list     GET of a page of 100 from 1,000,000 configurations, against the same from 1,000
  search   GET of those with a part of their name, among 1,000,000 against among 1,000; the worse of two parts
  transfer upload and download of a large file of an object storage manager, against the same SDK used directly, and the
           memory that they take; the store is one that keeps nothing
  latency  the slowest of a hundred small GETs while 8 clients send the largest JSON bodies, against the same without them
  body     what a KiB of the largest JSON bodies costs, against a KiB of small ones; the worst of some kinds
  submit   jobs submitted per second while none can start: by 16 clients against inserting the same rows by hand,
           and by 1, 8 and 32 behind 10,000 and 100,000 waiting jobs, against behind none
  recovery kill -9 of a worker in the midst of operations to the next committed step of what it held, p50 and p99, with
           another worker and without; the worker is restarted after a second
  agent    from the answer to the request for a run, and from its commit record, to its node's agent, with a thousand
           nodes polling, and what their idle polls cost
  reads    GET of a job, of the newest 100 of a workspace, and of both statistics behind 1,000,000 ended jobs, against
           behind 1,000
  destroy  how long it takes to destroy a cluster that 100,000 jobs wait for, and others to lock it meanwhile
  copy     files per second of a copy of 10,000 small files in a workspace, against cp -r
  permission GET of a workspace by a member of one of its 1,000 groups with 10,000 users, against one with a single group
  restart  how long API and worker take to start with 100,000 runs waiting and 2,000 assigned, and how large they become
  metastore first page of 10,000 tables of a Hive metastore and of fakes of Unity and AWS Glue, refreshed against the
           same calls by a bare client, and cached; the names of all; and the memory that lists of 100 catalogs take
  console  the console in a browser: JavaScript and largest paint of its first screen, scrolling 100,000 runs, and the end of a
           log of a gigabyte
  start    CPU time, elapsed time and memory of an API and of a worker from their start until they are ready, against the same
           programs unbundled and without a compile cache
  events   resident memory that 1,000 streams of events add to an API
  billing  usage of a month, of 1,000 clusters with 31,000 lines, over 1,000,000 entries of the ledger, against over 10,000
  autoscaler processor time of a decision whether to grow or to shrink for each of 1,000 clusters with 10 nodes
  sweep    1,000 machines that no cluster owns found among 10,000 and their end requested, at a fake of each provider, against
           listing all of them
  growth   of the memory of API and worker over ten minutes of runs on a thousand nodes; only if named
  peers    small jobs and a first result of Spark by plain Spark, Livy, Spark Connect and a PLATFORM cluster, as a table; only
           if named. Downloads 160 MB once

Options:
  --only=job,lookup        measure these only
  --rounds=N               rounds of each side, ${ROUNDS} by default; one more that does not count comes first. Of kills
                           these are the number, ${KILLS} by default
  --seed=N                 of the moments of the kills, random by default
  --json=FILE              write the figures to FILE, too
  --markdown=FILE          write the page of peers to FILE, too
  --help                   show this

A missed goal does not make it fail; a failure to measure does. RUNTIME_DIR (.runtime by default) holds Java and Spark.
`;

export class UsageError extends Error {}

/**
 * @param {string[]} args
 * @throws {UsageError}
 */
export function readOptions(args) {
  const text = /** @type {const} */ ({ type: 'string' });
  try {
    const options = {
      only: text,
      rounds: text,
      seed: text,
      json: text,
      markdown: text,
      help: { type: /** @type {const} */ ('boolean') },
    };
    const { values } = parseArgs({ args, options });
    const only = values.only?.split(',') ?? MEASUREMENTS;
    const unknown = only.find((name) => !MEASUREMENTS.includes(name) && !LONG.includes(name));
    if (unknown !== undefined) throw new Error(`Unknown measurement ${JSON.stringify(unknown)}.`);
    const rounds = Number(values.rounds ?? ROUNDS);
    if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number of at least 1.');
    const seed = Number(values.seed ?? randomInt(2 ** 31));
    if (!Number.isInteger(seed)) throw new Error('--seed must be a whole number.');
    const kills = values.rounds === undefined ? KILLS : rounds;
    const { json, markdown, help = false } = values;
    return { only, rounds, kills, seed, json, markdown, help };
  } catch (error) {
    throw new UsageError(`${/** @type {Error} */ (error).message}\n\n${HELP}`);
  }
}
