import { seededRandom, type SeededRandom } from '../../harness/seeded-random.cjs';

/**
 * A typical load of a PLATFORM cluster. The loads are synthetic, because no recording was available. A seed draws each load,
 * and its comment names the model. Durations are log-normal, as common for batch jobs: most are short, a few are long.
 */
export interface Load {
  name: string;
  /** Runs in order of arrival. */
  runs: readonly LoadRun[];
  minInstances: number;
  maxInstances: number;
  maxParallelJobs: number;
  cleanUpTimeoutMs: number;
  startTimeMs: number;
  /** Times during which the provider has no machine. */
  outages: readonly { from: number; to: number }[];
}

export interface LoadRun {
  arrivesAt: number;
  lastsMs: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A cloud machine takes two to three minutes from the request to a registered agent. */
const STARTS_WITHIN = 150 * SECOND;

/** @param spread standard deviation of the logarithm */
function logNormal(random: SeededRandom, medianMs: number, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return Math.max(SECOND, Math.round(medianMs * Math.exp(spread * normal)));
}

/** Draws arrivals of a Poisson process with a varying rate, by thinning. */
function arrivals(random: SeededRandom, until: number, peakPerHour: number, share: (at: number) => number): number[] {
  const times: number[] = [];
  for (let at = 0; ;) {
    at += (-Math.log(1 - random.next()) * HOUR) / peakPerHour;
    if (at >= until) return times.map(Math.round);
    if (random.next() < share(at)) times.push(at);
  }
}

function load(name: string, runs: LoadRun[], settings: Partial<Load> = {}): Load {
  return {
    name,
    runs: runs.toSorted((a, b) => a.arrivesAt - b.arrivesAt),
    minInstances: 1,
    maxInstances: 10,
    maxParallelJobs: 5,
    cleanUpTimeoutMs: 15 * MINUTE,
    startTimeMs: STARTS_WITHIN,
    outages: [],
    ...settings,
  };
}

/** A warehouse's nightly load: 400 jobs, one for each table, arrive within two minutes and take some two hours. */
function nightlyBatch(random: SeededRandom): Load {
  const runs = Array.from({ length: 400 }, () => ({
    arrivesAt: HOUR + random.below(2 * MINUTE),
    lastsMs: logNormal(random, 8 * MINUTE, 0.8),
  }));
  return load('a nightly batch of 400 jobs', runs, { maxInstances: 6 });
}

/** Analysts from nine to six, with a lull at noon and hardly anyone in the evening. */
function officeHours(random: SeededRandom, cleanUpTimeoutMs: number, name: string): Load {
  const share = (at: number) => {
    const hour = at / HOUR;
    if (hour < 9 || hour >= 19) return 0.01;
    if (hour >= 12 && hour < 13) return 0.15;
    return hour >= 18 ? 0.2 : 1;
  };
  const runs = arrivals(random, 24 * HOUR, 240, share).map((arrivesAt) => ({
    arrivesAt,
    lastsMs: logNormal(random, 2 * MINUTE, 1),
  }));
  return load(name, runs, { cleanUpTimeoutMs });
}

/** A task graph of a scheduler each hour: one task, then 30 at once, then a last one. */
function hourlyFanOut(random: SeededRandom, cleanUpTimeoutMs: number, name: string): Load {
  const runs = Array.from({ length: 12 }, (_, hour) => {
    const first = logNormal(random, MINUTE, 0.3);
    const fan = Array.from({ length: 30 }, () => ({
      arrivesAt: hour * HOUR + first + random.below(5 * SECOND),
      lastsMs: logNormal(random, 5 * MINUTE, 0.5),
    }));
    const ended = Math.max(...fan.map(({ arrivesAt, lastsMs }) => arrivesAt + lastsMs));
    const last = { arrivesAt: ended, lastsMs: logNormal(random, 2 * MINUTE, 0.3) };
    return [{ arrivesAt: hour * HOUR, lastsMs: first }, ...fan, last];
  });
  return load(name, runs.flat(), { cleanUpTimeoutMs });
}

/** Independent jobs of many owners, day and night. */
function steady(random: SeededRandom): Load {
  const runs = arrivals(random, 24 * HOUR, 60, () => 1).map((arrivesAt) => ({
    arrivesAt,
    lastsMs: logNormal(random, 8 * MINUTE, 0.8),
  }));
  return load('a steady stream', runs, { maxParallelJobs: 3 });
}

/** A poller that sends 15 jobs at once repeatedly, with a pause after the end of each batch. */
function bursts(random: SeededRandom, pauseMs: number, name: string): Load {
  const runs: LoadRun[] = [];
  for (let begin = 0; begin < 12 * HOUR;) {
    const lot = Array.from({ length: 15 }, () => ({ arrivesAt: begin, lastsMs: logNormal(random, 5 * MINUTE, 0.2) }));
    runs.push(...lot);
    begin = Math.max(...lot.map(({ arrivesAt, lastsMs }) => arrivesAt + lastsMs)) + pauseMs;
  }
  return load(name, runs);
}

/** A training of three hours among short queries, which end for the day before it does. */
function longTail(random: SeededRandom): Load {
  const short = arrivals(random, 2 * HOUR, 300, () => 1).map((arrivesAt) => ({
    arrivesAt,
    lastsMs: logNormal(random, 2 * MINUTE, 0.6),
  }));
  return load('one job of three hours among short ones', [...short, { arrivesAt: HOUR, lastsMs: 3 * HOUR }]);
}

/** A new tenant: from nothing to 300 jobs an hour within six hours, and back as slowly. */
function slowRamp(random: SeededRandom): Load {
  const share = (at: number) => 1 - Math.abs(at / (6 * HOUR) - 1);
  const runs = arrivals(random, 12 * HOUR, 300, share).map((arrivesAt) => ({
    arrivesAt,
    lastsMs: logNormal(random, 4 * MINUTE, 0.7),
  }));
  return load('a slow ramp', runs);
}

/** A batch during the first twenty minutes of which the provider has no machine, as happens with spot machines. */
function withoutCapacity(random: SeededRandom): Load {
  const runs = Array.from({ length: 400 }, () => ({
    arrivesAt: random.below(30 * MINUTE),
    lastsMs: logNormal(random, 9 * MINUTE, 0.6),
  }));
  return load('a batch without capacity for 20 minutes', runs, {
    maxInstances: 8,
    outages: [{ from: 0, to: 20 * MINUTE }],
  });
}

/** @param seed a whole number; each seed draws other runs of the same kinds */
export function loads(seed: number): Load[] {
  const drawn = (index: number) => seededRandom(seed * 100 + index);
  const timeout = 15 * MINUTE;
  return [
    nightlyBatch(drawn(0)),
    officeHours(drawn(1), timeout, 'office hours'),
    officeHours(drawn(1), 4 * HOUR, 'office hours with the default timeout'),
    hourlyFanOut(drawn(2), 30 * MINUTE, 'an hourly fan-out of 30 tasks'),
    hourlyFanOut(drawn(2), timeout, 'an hourly fan-out with a short timeout'),
    steady(drawn(3)),
    bursts(drawn(4), timeout - 6 * MINUTE, 'bursts just before the timeout'),
    bursts(drawn(5), timeout + 2 * MINUTE, 'bursts just after the timeout'),
    longTail(drawn(6)),
    slowRamp(drawn(7)),
    withoutCapacity(drawn(8)),
  ];
}
