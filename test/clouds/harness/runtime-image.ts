import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preparedRuntime } from '../../harness/prepared-runtime';

/** Creates the content of an image below the root: the Node, Java, Python and Spark of the tests. */
export function layPreparedImage(root: string, sparkVersion: string): void {
  const { javaHome, sparkHome, python } = preparedRuntime();
  const folders = {
    node: join(process.execPath, '..', '..'),
    java: javaHome,
    python: join(python, '..', '..'),
    [`spark-${sparkVersion}`]: sparkHome,
  };
  for (const [name, folder] of Object.entries(folders)) {
    symlinkSync(folder, join(root, 'runtime', name));
    writeFileSync(join(root, 'runtime', `${name}.version`), 'prepared\n');
  }
}
