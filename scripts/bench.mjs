#!/usr/bin/env node
import './embedded/newer-node.mjs';
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { measureAutoscaler } from './bench/autoscaler.mjs';
import { measureBilling } from './bench/billing.mjs';
import { prepareBodies } from './bench/bodies.mjs';
import { SparkByHand } from './bench/by-hand.mjs';
import { compare, comparisonOf, describe, measure } from './bench/comparison.mjs';
import { ClusterSizes, NODES } from './bench/cluster-sizes.mjs';
import { measureConsole } from './bench/console.mjs';
import { measureFollow } from './bench/follow.mjs';
import { measureEvents } from './bench/events.mjs';
import { prepareGet } from './bench/get.mjs';
import { measureIdle } from './bench/idle.mjs';
import { measureInteractive } from './bench/interactive.mjs';
import { prepareLookup } from './bench/lookup.mjs';
import { prepareMetastores } from './bench/metastores.mjs';
import { prepareMillion } from './bench/million.mjs';
import { measurePeers } from './bench/peers.mjs';
import { prepareNodes } from './bench/nodes.mjs';
import { HELP, readOptions, UsageError } from './bench/options.mjs';
import { preparePage } from './bench/page.mjs';
import { PlatformUnderBench } from './bench/platform-under-bench.mjs';
import { percentile } from './bench/percentile.mjs';
import { Recovery } from './bench/recovery.mjs';
import { measureStart } from './bench/start.mjs';
import { prepareSubmissions } from './bench/submissions.mjs';
import { measureDestroy, measureReads } from './bench/stored-runs.mjs';
import { measureSweep } from './bench/sweep.mjs';
import { prepareTransfer } from './bench/transfer.mjs';
import { prepareCopies, preparePermissions } from './bench/workspaces.mjs';
import { ApiError } from './demo/session.mjs';
import { ensureBuild, ensureDependencies } from './embedded/install.mjs';
import { abortedByInterruption } from './embedded/interruption.mjs';
import { prepareRuntime } from './embedded/runtime.mjs';
import { SetupError } from './embedded/setup-error.mjs';

/** Measurements that need a cluster. */
const OF_CLUSTER = ['job', 'follow', 'cluster', 'get'];
/** Measurements of clusters of several sizes. */
const OF_SIZES = ['grow', 'nodes'];
/** Measurements that need a million records. */
const OF_MILLION = ['list', 'search'];
/** Measurements that need a thousand nodes. */
const OF_NODES = ['agent', 'growth', 'restart'];
/** Measurements of JSON bodies. */
const OF_BODIES = ['latency', 'body'];
/** Measurements that need no platform, or platforms of their own. */
const ALONE = ['autoscaler', 'events', 'recovery', 'start', 'sweep'];
/** Pause between two rounds, so that work that the last one still ends does not slow the next one. */
const PAUSE_MS = 1_000;
const WORKER_MEMORY = '15g';
/** The baseline of reads, `bare-express.mjs`. */
const BY_HAND = 'an Express handler written by hand, without authentication, log and audit,';

/**
 * @typedef {import('./bench/comparison.mjs').Comparison} Comparison
 * @typedef {import('./bench/comparison.mjs').Goal} Goal
 * @typedef {import('./bench/comparison.mjs').Result} Result
 * @typedef {import('./bench/comparison.mjs').Sides} Sides
 * @typedef {import('./embedded/runtime.mjs').Runtime} Runtime
 * @typedef {Awaited<ReturnType<typeof prepareMetastores>>['metastores'][number]} Metastore
 * @typedef {Awaited<ReturnType<typeof prepareMillion>>} Million
 * @typedef {Awaited<ReturnType<typeof prepareBodies>>} Bodies
 */

class Bench {
  /** @param {Omit<ReturnType<typeof readOptions>, 'json' | 'help'>} options @param {AbortSignal} signal */
  constructor({ only, rounds, kills, seed, markdown }, signal) {
    this.only = only;
    this.rounds = rounds;
    this.kills = kills;
    this.seed = seed;
    this.markdown = markdown;
    this.signal = signal;
    this.started = performance.now();
  }

  /** @type {import('./embedded/install.mjs').OnProgress} */
  print = (text, transient = false) => {
    if (transient) return;
    console.log(`[${((performance.now() - this.started) / 1000).toFixed(1).padStart(6)} s] ${text}`);
  };

  /** @returns {Promise<Result[]>} */
  async run() {
    const { print, signal } = this;
    const install = { onProgress: print, signal };
    await ensureDependencies(install);
    await ensureBuild(install);
    /** @type {Result[]} */
    const results = this.only.includes('autoscaler') ? [measureAutoscaler(this)] : [];
    if (this.only.includes('sweep')) results.push(...(await measureSweep(this)));
    if (this.only.every((name) => name === 'autoscaler' || name === 'sweep')) return results;
    // The services are its own, whatever the environment names, because others would be neither idle nor known.
    const env = { ...process.env };
    for (const name of ['DATABASE_URL', 'REDIS_URL']) delete env[name];
    const runtimeDir = resolve(process.env.RUNTIME_DIR || '.runtime');
    const runtime = await prepareRuntime(runtimeDir, { ...install, env });
    if (this.only.includes('start')) results.push(...(await measureStart({ ...this, runtime })));
    if (this.only.includes('events')) results.push(...(await measureEvents({ ...this, runtime })));
    if (this.only.some((name) => !ALONE.includes(name)))
      results.push(...(await this.on({ runtime }, (platform) => this.ofOnePlatform(platform, runtime))));
    if (this.only.includes('recovery')) {
      results.push(...(await this.recovery(runtime, { name: 'recovery', workers: 2 })));
      results.push(...(await this.recovery(runtime, { name: 'recovery-alone', workers: 1 })));
    }
    return results;
  }

  /**
   * @param {Pick<ConstructorParameters<typeof PlatformUnderBench>[0], 'runtime' | 'processes'>} options
   * @param {(platform: PlatformUnderBench) => Promise<Result[]>} measureOn
   */
  async on(options, measureOn) {
    const { print, signal } = this;
    const platform = new PlatformUnderBench({ ...options, print, signal });
    let measured = false;
    try {
      await platform.start();
      print('PostgreSQL, Redis, API and worker are up');
      const results = await measureOn(platform);
      measured = true;
      return results;
    } finally {
      print('Stopping');
      await platform.close({ keepLogs: !measured && !signal.aborted });
    }
  }

  /** @param {PlatformUnderBench} platform @param {Runtime} runtime */
  async ofOnePlatform(platform, runtime) {
    const byHand = new SparkByHand({ runtime, folder: join(platform.folder, 'by-hand'), signal: this.signal });
    /** @type {Result[]} */
    const results = [];
    if (this.only.some((name) => OF_CLUSTER.includes(name))) results.push(...(await this.ofCluster(platform, byHand)));
    results.push(...(await measureIdle(platform, this)));
    results.push(...(await measureInteractive(platform, this)));
    results.push(...(await measurePeers(platform, this)));
    results.push(...(await this.ofSizes(platform)));
    if (this.only.includes('lookup')) results.push(await this.lookup(platform));
    if (this.only.includes('page')) results.push(await this.page(platform));
    if (this.only.some((name) => OF_MILLION.includes(name))) results.push(...(await this.ofMillion(platform)));
    if (this.only.includes('copy')) results.push(await this.copy(platform));
    if (this.only.includes('permission')) results.push(await this.permission(platform));
    if (this.only.includes('metastore')) results.push(...(await this.metastores(platform)));
    if (this.only.includes('billing')) results.push(...(await measureBilling(platform, this)));
    if (this.only.includes('transfer')) results.push(...(await this.transfer(platform)));
    if (this.only.some((name) => OF_BODIES.includes(name))) results.push(...(await this.ofBodies(platform)));
    if (this.only.some((name) => OF_NODES.includes(name))) results.push(...(await this.ofNodes(platform)));
    // These come last because they leave many jobs behind, or no cluster.
    if (this.only.includes('submit')) results.push(...(await this.submissions(platform)));
    if (this.only.includes('reads')) results.push(...(await this.reads(platform)));
    results.push(...(await measureConsole(platform, this)));
    if (this.only.includes('destroy')) results.push(...(await measureDestroy(platform, this.signal)));
    return results;
  }

  /** @param {Runtime} runtime @param {{name: string, workers: 1 | 2}} measurement */
  recovery(runtime, { name, workers }) {
    const { print, signal, seed, kills } = this;
    const processes = { hasSecondWorker: workers === 2, restartDelayMs: { first: 1_000, longest: 1_000 } };
    return this.on({ runtime, processes }, async (platform) => {
      print(`${name}: ${kills} kills, seed ${seed}`);
      const seconds = await new Recovery({ platform, workers, seed, print, signal }).measure(kills);
      const among = workers === 2 ? 'one of two workers' : 'the only worker, restarted after 1 s';
      /** @param {number} share @param {number} below */
      const figure = (share, below) =>
        measure({
          name: `${name}-p${share}`,
          title: `kill -9 of ${among}, to the next committed step: p${share} of ${kills}, seed ${seed}`,
          unit: 's',
          goal: { below },
          value: percentile(seconds, share / 100),
        });
      return [figure(50, 4), figure(99, 5)];
    });
  }

  /** @param {PlatformUnderBench} platform @param {SparkByHand} byHand */
  async ofCluster(platform, byHand) {
    await platform.startCluster();
    this.print('The cluster is up');
    const results = [];
    if (this.only.includes('job')) results.push(await this.job(platform, byHand));
    if (this.only.includes('follow')) results.push(await this.follow(platform));
    await platform.stopCluster();
    if (this.only.includes('cluster')) results.push(await this.cluster(platform, byHand));
    if (this.only.includes('get')) results.push(await this.get(platform));
    return results;
  }

  /** @param {PlatformUnderBench} platform @param {SparkByHand} byHand */
  async job(platform, byHand) {
    const { log } = await platform.runJob();
    const master = /^MASTER (spark:\S+)$/m.exec(log)?.[1];
    const secret = /^SECRET (\S+)$/m.exec(log)?.[1];
    if (!master || !secret) throw new Error(`The job does not name its master and secret; its log is:\n${log}`);
    const properties = byHand.propertiesOf(secret);
    const expected = resultOf(log);
    /** @param {{ms: number, text: string}} run */
    const checked = async ({ ms, text }) => {
      if (resultOf(text) !== expected) throw new Error(`The job gave a different result than before:\n${text}`);
      await this.pause();
      return ms / 1000;
    };
    return this.compare({
      name: 'job',
      title: 'POST of a small PySpark job to DONE, against spark-submit on the same master',
      unit: 's',
      goal: { atMost: 1.05 },
      baseline: async () => {
        const { ms, output } = await byHand.submit(platform.submitArguments(master, properties));
        return checked({ ms, text: output });
      },
      product: async () => {
        const { ms, log: text } = await platform.runJob();
        return checked({ ms, text });
      },
    });
  }

  /** @param {PlatformUnderBench} platform */
  async follow(platform) {
    const seconds = await measureFollow(platform, this.rounds);
    this.print(`follow: ${seconds.map((each) => each.toFixed(3)).join(', ')} s`);
    return measure({
      name: 'follow',
      title: `first line of a job to its first byte with a follower of its log: the slowest of ${this.rounds}`,
      unit: 's',
      goal: { below: 1 },
      value: Math.max(...seconds),
    });
  }

  /** @param {PlatformUnderBench} platform @param {SparkByHand} byHand */
  async cluster(platform, byHand) {
    const worker = { cores: platform.workerCores, memory: WORKER_MEMORY };
    return this.compare({
      name: 'cluster',
      title: 'POST /cluster/start to RUNNING, against starting the same daemons by hand',
      unit: 's',
      goal: { atMost: 0.35 },
      baseline: async () => {
        const ms = await byHand.startDaemons(worker);
        await this.pause();
        return ms / 1000;
      },
      product: async () => {
        const ms = await platform.startCluster();
        await platform.stopCluster();
        await this.pause();
        return ms / 1000;
      },
    });
  }

  /** @param {PlatformUnderBench} platform @returns {Promise<Result[]>} */
  async ofSizes(platform) {
    if (!this.only.some((name) => OF_SIZES.includes(name))) return [];
    return new ClusterSizes(platform, this.signal).connected(async (sizes) => {
      const results = [];
      if (this.only.includes('grow')) results.push(await this.grow(sizes));
      if (this.only.includes('nodes')) results.push(await this.nodes(sizes));
      return results;
    });
  }

  /** @param {ClusterSizes} sizes */
  grow(sizes) {
    return this.compare({
      name: 'grow',
      title:
        'POST of a job without a slot to its process on a node added for it, against the start of a cluster of one',
      unit: 's',
      goal: { atMost: 1.3 },
      baseline: () => this.followedByPause(sizes.start(1)),
      product: () => this.followedByPause(sizes.grow()),
    });
  }

  /** @param {ClusterSizes} sizes */
  nodes(sizes) {
    return this.compare({
      name: 'nodes',
      title: `POST /cluster/start to RUNNING of a PLATFORM cluster of ${NODES} nodes, against one of one`,
      unit: 's',
      goal: { atMost: 2 },
      baseline: () => this.followedByPause(sizes.start(1)),
      product: () => this.followedByPause(sizes.start(NODES)),
    });
  }

  /** @param {Promise<number>} measured */
  async followedByPause(measured) {
    const seconds = await measured;
    await this.pause();
    return seconds;
  }

  /** @param {PlatformUnderBench} platform */
  async get(platform) {
    return this.served(await prepareGet(platform, this.signal), {
      name: 'get',
      title: `GET of a cluster by id, against ${BY_HAND} with the same query as a prepared statement`,
      goal: { atLeast: 0.7 },
    });
  }

  /** @param {PlatformUnderBench} platform */
  async lookup(platform) {
    return this.served(await prepareLookup(platform, this.signal), {
      name: 'lookup',
      title: `GET of a lookup, against ${BY_HAND} that serialized it once`,
      goal: { atLeast: 0.9 },
    });
  }

  /** @param {PlatformUnderBench} platform */
  async page(platform) {
    return this.served(await preparePage(platform, this.signal), {
      name: 'page',
      title: `GET of a page of 100 of 1,000 configurations, against ${BY_HAND} with the same prepared statements`,
      goal: { atLeast: 0.7 },
    });
  }

  /** @param {PlatformUnderBench} platform */
  async ofMillion(platform) {
    this.print('Filling a tenant with a million configurations');
    const million = await prepareMillion(platform, this.signal);
    try {
      const results = [];
      if (this.only.includes('list')) results.push(await this.list(million));
      if (this.only.includes('search')) results.push(await this.search(million));
      return results;
    } finally {
      await million.close();
    }
  }

  /** @param {Million} million */
  async list(million) {
    return this.compare({
      name: 'list',
      title: 'GET of a page of 100 from 1,000,000 configurations, against the same from 1,000',
      unit: 'ms',
      goal: { atMost: 1.5 },
      ...(await million.list()),
    });
  }

  /** @param {Million} million */
  async search({ searches }) {
    const results = [];
    for (const { part, sides } of searches) {
      const comparison = await this.compare({
        name: 'search',
        title: `search for ${part}, among 1,000,000 configurations, against among 1,000`,
        unit: 'ms',
        goal: { atMost: 3 },
        ...(await sides()),
      });
      this.print(`search: the ratio for ${part} is ${comparison.ratio.toFixed(3)}`);
      results.push(comparison);
    }
    return worstOf(results);
  }

  /** @param {PlatformUnderBench} platform */
  async copy(platform) {
    return this.compare({
      name: 'copy',
      title: 'copy of a directory with 10,000 small files in a workspace, against cp -r',
      unit: 'files/s',
      goal: { atLeast: 0.3 },
      ...(await prepareCopies(platform)),
    });
  }

  /** @param {PlatformUnderBench} platform */
  async permission(platform) {
    const { close, ...sides } = await preparePermissions(platform, this.signal);
    try {
      return await this.compare({
        name: 'permission',
        title: 'GET of a workspace with 1,000 groups and 10,000 users, against one with a single group, by a member',
        unit: 'ms',
        goal: { atMost: 1.2 },
        ...sides,
      });
    } finally {
      await close();
    }
  }

  /** @param {PlatformUnderBench} platform */
  async metastores(platform) {
    this.print('Filling a Hive metastore with 10,000 tables');
    const bench = await prepareMetastores(platform, this.signal);
    try {
      const results = [];
      for (const metastore of bench.metastores) results.push(...(await this.browsed(metastore)));
      results.push(
        measure({
          name: 'metastore-memory',
          title: 'growth of the resident memory of the API while 100 catalogs of 10,000 tables are listed',
          unit: 'MiB',
          goal: { below: 256 },
          value: await bench.growth(),
        }),
      );
      return results;
    } finally {
      await bench.close();
    }
  }

  /** @param {Metastore} metastore */
  async browsed({ name, title, isQuick, browsed: { cold, page, names } }) {
    const refreshed = await this.compare({
      name: `${name}-cold`,
      title: `first 100 of 10,000 tables ${title}, refreshed, against the same calls by a bare client`,
      unit: 'ms',
      goal: { atMost: 1.3 },
      ...cold,
    });
    /** @param {string} what @param {string} text @param {number} below @param {number} value */
    const figure = (what, text, below, value) =>
      measure({ name: `${name}-${what}`, title: `${text} ${title}`, unit: 'ms', goal: { below }, value });
    const results = [
      refreshed,
      figure('page', 'p99 of the first 100 of 10,000 cached tables', 100, await page()),
      figure('names', 'p99 of the names of 10,000 cached tables', 150, await names()),
    ];
    if (isQuick)
      results.push(figure('first', 'the slowest round of the refreshed first page', 1_000, refreshed.product.max));
    return results;
  }

  /** @param {PlatformUnderBench} platform */
  async transfer(platform) {
    const { machine, network, growth, close } = await prepareTransfer(platform, this.signal);
    /** @param {string} name @param {'upload' | 'download'} direction @param {typeof machine} sides @param {string} store */
    const through = (name, direction, sides, store) =>
      this.compare({
        ...sides[direction],
        name,
        title: `${direction} of 256 MiB through the API, against the SDK used directly without the API, ${store}`,
        unit: 'MiB/s',
        // The API copies each byte, so a store as fast as the machine shows what that costs.
        goal: { atLeast: sides === machine ? 0.6 : 0.8 },
      });
    try {
      return [
        await through('upload', 'upload', machine, 'to a store as fast as the machine'),
        await through('download', 'download', machine, 'from a store as fast as the machine'),
        await through('upload-net', 'upload', network, 'to a store behind 2.5 Gbit/s'),
        await through('download-net', 'download', network, 'from a store behind 2.5 Gbit/s'),
        measure({
          name: 'memory',
          title: 'growth of the resident memory of the API while 5 GiB are uploaded and downloaded',
          unit: 'MiB',
          goal: { below: 64 },
          value: await growth(),
        }),
      ];
    } finally {
      await close();
    }
  }

  /** @param {PlatformUnderBench} platform */
  async ofBodies(platform) {
    const { latency, costs, close } = await prepareBodies(platform, this.signal);
    const results = [];
    try {
      if (this.only.includes('latency')) results.push(await this.latency(latency));
      if (this.only.includes('body')) results.push(await this.body(costs));
      return results;
    } finally {
      await close();
    }
  }

  /** @param {PlatformUnderBench} platform */
  async submissions(platform) {
    const { fill, product, baseline, close } = await prepareSubmissions(platform, this.signal);
    const times = async (/** @type {number} */ connections) => {
      const { perSecond, p99 } = await product(connections);
      this.print(`submit: ${connections} clients, ${perSecond.toFixed(0)}/s, p99 ${p99.toFixed(1)} ms`);
      return { perSecond, p99 };
    };
    try {
      /** @type {number[]} */
      const slowest = [];
      const against = await this.compare({
        name: 'submit',
        title:
          'jobs submitted by 16 clients, against a handler that inserts the same rows by prepared statements in one ' +
          'transaction, without authentication, checks, log and HTTP framework',
        unit: '1/s',
        goal: { atLeast: 0.5 },
        baseline: async () => (await baseline(16)).perSecond,
        product: async () => {
          const { perSecond, p99 } = await times(16);
          slowest.push(p99);
          return perSecond;
        },
      });
      /** @type {Result[]} */
      const results = [
        against,
        measure({
          name: 'submit-rate',
          title: 'the same, per second',
          unit: '1/s',
          goal: { atLeast: 300 },
          value: against.product.median,
        }),
        measure({
          name: 'submit-p99',
          title: 'the same, the slowest of a hundred',
          unit: 'ms',
          goal: { below: 100 },
          value: Math.max(...slowest.slice(1)),
        }),
      ];
      /** @type {Map<number, number[]>} */
      const alone = new Map();
      let filled = 0;
      for (const backlog of [0, 10_000, 100_000]) {
        await fill(backlog - filled);
        filled = backlog;
        this.print(`submit: ${backlog} jobs wait`);
        for (const connections of [1, 8, 32]) {
          await times(connections);
          const rounds = [];
          for (let round = 0; round < this.rounds; round += 1) rounds.push((await times(connections)).perSecond);
          if (backlog === 0) alone.set(connections, rounds);
          else {
            results.push(
              comparisonOf({
                name: `submit-${backlog / 1000}k`,
                title: `jobs submitted by ${connections} behind ${backlog} waiting ones, against behind none`,
                unit: '1/s',
                goal: { atLeast: 0.9 },
                measured: { baseline: alone.get(connections) ?? [], product: rounds },
              }),
            );
          }
        }
      }
      return results;
    } finally {
      await close();
    }
  }

  /** @param {PlatformUnderBench} platform */
  async reads(platform) {
    const measured = await measureReads(platform, this.signal, this.rounds);
    return measured.map(({ title, ...sides }) =>
      comparisonOf({
        name: 'reads',
        title: `${title} behind 1,000,000, against behind 1,000`,
        unit: 'ms',
        goal: { atMost: 1.5 },
        measured: sides,
      }),
    );
  }

  /** @param {PlatformUnderBench} platform */
  async ofNodes(platform) {
    this.print('Starting the agents of a thousand nodes');
    const nodes = await prepareNodes(platform, this.signal);
    try {
      const results = [];
      if (this.only.includes('agent')) results.push(...(await nodes.idle()), ...(await nodes.accept()));
      if (this.only.includes('growth')) results.push(...(await nodes.growth()));
      if (this.only.includes('restart')) results.push(...(await nodes.restart()));
      return results;
    } finally {
      await nodes.close();
    }
  }

  /** @param {Sides} sides */
  async latency(sides) {
    return this.compare({
      name: 'latency',
      title: 'p99 of a small GET while 8 clients send the largest JSON bodies, against the same without them',
      unit: 'ms',
      goal: { atMost: 3 },
      ...sides,
    });
  }

  /** @param {Bodies['costs']} costs */
  async body(costs) {
    const results = [];
    for (const { kind, sides } of costs) {
      const comparison = await this.compare({
        name: 'body',
        title: `cost of a KiB of the largest bodies of ${kind}, against a KiB of small ones`,
        unit: 'ms/KiB',
        goal: { atMost: 1.5 },
        ...sides,
      });
      this.print(`body: the ratio for ${kind} is ${comparison.ratio.toFixed(3)}`);
      results.push(comparison);
    }
    return worstOf(results);
  }

  /**
   * @param {Sides & {close: () => Promise<unknown>}} sides
   * @param {{name: string, title: string, goal: Goal}} comparison
   */
  async served({ baseline, product, close }, comparison) {
    try {
      return await this.compare({ ...comparison, unit: '/s', baseline, product });
    } finally {
      await close();
    }
  }

  /** @param {Sides & {name: string, title: string, unit: string, goal: Goal}} sides */
  compare(sides) {
    return compare({ ...sides, rounds: this.rounds, print: this.print });
  }

  pause() {
    return delay(PAUSE_MS, undefined, { signal: this.signal });
  }
}

/** @param {Comparison[]} results for which a larger ratio is worse */
function worstOf(results) {
  return results.reduce((worst, other) => (other.ratio > worst.ratio ? other : worst));
}

/** @param {string} output @returns {string | null} the line with the result of a job */
function resultOf(output) {
  return /^RESULT \d+$/m.exec(output)?.[0] ?? null;
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const controller = abortedByInterruption();
  const machine = { node: process.version, cpus: availableParallelism(), load_before: loadavg()[0] ?? 0 };
  let results;
  try {
    results = await new Bench(options, controller.signal).run();
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    process.stderr.write(`${/** @type {Error} */ (controller.signal.reason).message}\n`);
    return 130;
  }
  console.log(['', ...results.map(describe)].join('\n'));
  console.log(`\n  ${machine.cpus} processors; load before the run ${machine.load_before.toFixed(2)}\n`);
  if (options.json) {
    const document = { at: new Date().toISOString(), ...machine, results };
    writeFileSync(options.json, `${JSON.stringify(document, null, 2)}\n`);
  }
  return 0;
}

try {
  process.exit(await main());
} catch (error) {
  const isKnown = error instanceof UsageError || error instanceof SetupError || error instanceof ApiError;
  const stack = error instanceof Error ? error.stack : undefined;
  process.stderr.write(`bench failed: ${isKnown ? error.message : (stack ?? String(error))}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
}
