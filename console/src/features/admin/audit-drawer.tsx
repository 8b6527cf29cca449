import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { AuditEventRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import { CopyButton } from '../../shared/copy-button';
import { DetailDrawer } from '../../shared/detail-drawer';
import { dateOf, exactTime } from '../../shared/time';
import list from '../../shared/list-screen.module.css';
import styles from './admin.module.css';
import { AuditChanges } from './audit-changes';
import type { AuditSearch } from './audit-search';
import { subjectParts } from './audit-subject';

const texts = adminTexts.audit;

/** Shows one request: the records that it named, who sent it from where, and the way to what else they did. */
export function AuditDrawer({ event, onClose }: { event: AuditEventRead; onClose: () => void }): ReactNode {
  return (
    <DetailDrawer title={event.operation} width={event.changes.length > 0 ? 640 : 480} onClose={onClose}>
      <div className={styles['stack']}>
        <Records event={event} />
        {event.outcome === 'done' && <AuditChanges changes={event.changes} />}
        <Facts event={event} />
        <div className={list['filters']}>
          <Filter search={{ correlation: event.correlation_id }}>{texts.sameRequest}</Filter>
          {event.username !== null && <Filter search={{ user: event.username }}>{texts.sameUser}</Filter>}
          <Filter search={{ operation: event.operation }}>{texts.sameOperation}</Filter>
        </div>
      </div>
    </DetailDrawer>
  );
}

function Records({ event: { subject, outcome } }: { event: AuditEventRead }): ReactNode {
  const parts = subjectParts(subject);
  return (
    <section className={styles['block']}>
      <h3>{texts.records}</h3>
      {outcome !== 'done' && <span className={styles['note']}>{texts.nothing}</span>}
      {parts.length === 0 && <span className={styles['note']}>{texts.unrecorded}</span>}
      <ul className={styles['rows']}>
        {parts.map(({ field, kind, value }) => (
          <li key={field}>
            <span className={list['soft']}>{kind}</span>
            <span className="mono">{value}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ event }: { event: AuditEventRead }): ReactNode {
  const { method, path, status, error_code: code, correlation_id: id, ip, user_agent: client } = event;
  const at = dateOf(event.at);
  return (
    <dl className={styles['facts']}>
      <dt>{texts.columns.by}</dt>
      <dd>{event.username ?? texts.unknown}</dd>
      <dt>{texts.columns.at}</dt>
      <dd>{at && exactTime(at)}</dd>
      <dt>{texts.request}</dt>
      <dd className="mono">
        {method} {path}: {status}
      </dd>
      {code !== null && (
        <>
          <dt>{texts.code}</dt>
          <dd className="mono">{code}</dd>
        </>
      )}
      <dt>{texts.correlation}</dt>
      <dd className="mono">
        {id} <CopyButton text={id} />
      </dd>
      <dt>{texts.from}</dt>
      <dd>{ip ?? texts.unknown}</dd>
      <dt>{texts.client}</dt>
      <dd>{client ?? texts.unknown}</dd>
      {event.session_kind !== null && (
        <>
          <dt>{texts.session}</dt>
          <dd>{texts.kinds[event.session_kind]}</dd>
        </>
      )}
    </dl>
  );
}

function Filter({ search, children }: { search: AuditSearch; children: ReactNode }): ReactNode {
  return (
    <Button variant="default" renderRoot={(props: object) => <Link to="/admin/audit" search={search} {...props} />}>
      {children}
    </Button>
  );
}
