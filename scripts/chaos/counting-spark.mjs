import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns a script in place of spark-submit. It records the start of the run, shows an application as Spark would, works for the
 * time in the job's second argument and exits with the third as its status.
 * @param {string} executions path of the file with a line for each start
 */
const submit = (executions) => `#!/bin/sh
for word; do
  case $word in spark.eventLog.dir=file://*) events=\${word#spark.eventLog.dir=file://} ;; esac
done
run=\${TMPDIR%/box/tmp}
run=\${run##*/}
echo "$run" >> '${executions}'
echo "run $run begins"
: > "$events/local-$run"
while [ $# -gt 2 ]; do shift; done
sleep "$1"
echo "run $run ends"
exit "$2"
`;

/** A Spark that computes nothing and counts the starts of each run: many of its jobs fit on a small machine. */
export class CountingSpark {
  /** @param {string} folder @param {string} version the Spark version that its files show */
  constructor(folder, version) {
    this.home = join(folder, 'spark');
    this.shared = join(folder, 'shared');
    this.file = join(this.shared, 'executions');
    const folders = ['bin', 'conf', 'jars'].map((name) => join(this.home, name));
    for (const path of [...folders, this.shared]) mkdirSync(path, { recursive: true });
    writeFileSync(join(this.home, 'jars', `spark-core_2.12-${version}.jar`), '');
    // A Spark with settings of its own is started by its scripts, and so by the one below.
    writeFileSync(join(this.home, 'conf', 'spark-env.sh'), '');
    // Jobs run as other users.
    writeFileSync(this.file, '');
    chmodSync(this.file, 0o666);
    writeFileSync(join(this.home, 'bin', 'spark-submit'), submit(this.file), { mode: 0o755 });
  }

  /** @returns {Map<number, number>} the number of starts of each run, by its id */
  executions() {
    const counts = new Map();
    for (const line of readFileSync(this.file, 'utf8').split('\n').filter(Boolean)) {
      counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1);
    }
    return counts;
  }
}
