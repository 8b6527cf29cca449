import type { AuditEventRead, FieldChangeRead, RecordChangeRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import { number } from '../../shared/texts';
import table from '../../shared/plain-table.module.css';
import styles from './admin.module.css';

const texts = adminTexts.audit;

/** Shows which fields a request changed, from what to what. */
export function AuditChanges({ changes }: Pick<AuditEventRead, 'changes'>): ReactNode {
  return (
    <section className={styles['block']}>
      <h3>{texts.changed}</h3>
      {changes.length === 0 && <span className={styles['note']}>{texts.unchanged}</span>}
      {changes.map((change, index) => (
        <Changes key={`${index} ${change.record}`} change={change} isAlone={changes.length === 1} />
      ))}
      {changes.length > 0 && <span className={styles['note']}>{texts.secretsHint}</span>}
    </section>
  );
}

function Changes({ change, isAlone }: { change: RecordChangeRead; isAlone: boolean }): ReactNode {
  const { record, fields, omitted } = change;
  return (
    <>
      {!isAlone && <span className={styles['note']}>{record}</span>}
      {fields.length > 0 && (
        <div className={`${table['frame']} ${styles['changes']}`} tabIndex={0} role="region" aria-label={record}>
          <table className={table['table']}>
            <thead>
              <tr>
                <th scope="col">{texts.field}</th>
                <th scope="col">{texts.before}</th>
                <th scope="col">{texts.after}</th>
              </tr>
            </thead>
            <tbody>
              {fields.map(({ field, before, after }) => (
                <tr key={field}>
                  <td className="mono">{field}</td>
                  <Value value={before} />
                  <Value value={after} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {omitted > 0 && <span className={styles['note']}>{texts.omitted(number(omitted))}</span>}
    </>
  );
}

function Value({ value }: { value: FieldChangeRead['before'] }): ReactNode {
  return value === null ? <td className={table['soft']}>{texts.none}</td> : <td className="mono">{value}</td>;
}
