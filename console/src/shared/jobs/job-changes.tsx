import type { JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { texts } from '../texts';
import styles from './job-changes.module.css';
import { differences, valuesOf } from './job-fields';

const t = texts.workspaces.job;

interface JobChangesProps {
  before: JobRead;
  after: JobRead;
  /** Shown if nothing differs. */
  none: ReactNode;
}

/** The settings of a run that differ from those of another run. */
export function JobChanges({ before, after, none }: JobChangesProps): ReactNode {
  const changed = differences(settingsOf(before), settingsOf(after)).map(({ name, ...values }) => ({
    label: t.fields[name][0] as string,
    ...values,
  }));
  if (before.cluster_id !== after.cluster_id) {
    const [old, now] = [before.cluster_info.name, after.cluster_info.name];
    changed.push({ label: t.fields.cluster_id[0], before: old, after: now });
  }
  if (changed.length === 0) return none;
  return (
    <dl className={styles['changes']}>
      {changed.map(({ label, before: old, after: now }) => (
        <div key={label} className={styles['change']}>
          <dt>{label}</dt>
          <dd>
            <del>{old || t.unset}</del> <ins>{now || t.unset}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A run may have arguments and properties of its own. */
function settingsOf({ job_conf: conf, arguments: given, conf: properties }: JobRead) {
  return valuesOf({ ...conf, arguments: given ?? conf.arguments, conf: properties ?? conf.conf });
}
