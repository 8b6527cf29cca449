import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * In place of Spark's: notes that it was started for the run, shows an application as Spark would, works for as long as the
 * job's second argument says and ends with the third as its status.
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

/** A Spark that computes nothing and counts how often each run is started: many of its jobs fit on a small machine. */
export class CountingSpark {
  /** @param {string} folder @param {string} version by its files it is a Spark of this version */
  constructor(folder, version) {
    this.home = join(folder, 'spark');
    this.shared = join(folder, 'shared');
    this.file = join(this.shared, 'executions');
    const folders = ['bin', 'conf', 'jars'].map((name) => join(this.home, name));
    for (const path of [...folders, this.shared]) mkdirSync(path, { recursive: true });
    writeFileSync(join(this.home, 'jars', `spark-core_2.12-${version}.jar`), '');
    // Jobs are other users.
    writeFileSync(this.file, '');
    chmodSync(this.file, 0o666);
    writeFileSync(join(this.home, 'bin', 'spark-submit'), submit(this.file), { mode: 0o755 });
  }

  /** @returns {Map<number, number>} how often each run was started, by its id */
  executions() {
    const counts = new Map();
    for (const line of readFileSync(this.file, 'utf8').split('\n').filter(Boolean)) {
      counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1);
    }
    return counts;
  }
}
