import { Button, SegmentedControl } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';
import { accessTexts as texts } from '../../shared/access-texts';
import { Confirm } from '../../shared/confirm';
import { DetailDrawer } from '../../shared/detail-drawer';
import { ProblemPanel } from '../../shared/problem-panel';
import { useMay } from '../../shared/rights/use-may';
import { RelativeTime, useNow } from '../../shared/time';
import { grant, type Grant, type HolderKey, permissionsQuery, revoke, type Rights, rightsQuery } from './access-api';
import list from '../../shared/list-screen.module.css';
import styles from './access-screen.module.css';

const OPERATIONS = {
  give: ['assignWorkspaceUserPermission', 'assignWorkspaceGroupPermission'],
  revoke: ['revokeWorkspaceUserPermission', 'revokeWorkspaceGroupPermission'],
} as const;

interface HolderDrawerProps {
  holderKey: HolderKey;
  onClose: () => void;
}

/** Shows what a user or group may do in the workspace and why, and changes it. */
export function HolderDrawer({ holderKey, onClose }: HolderDrawerProps): ReactNode {
  const { data: rights, error, refetch } = useQuery(rightsQuery(holderKey));
  return (
    <DetailDrawer title={rights?.name ?? `#${holderKey.id}`} error={error} onRetry={refetch} onClose={onClose}>
      {rights && <HolderRights rights={rights} holderKey={holderKey} />}
    </DetailDrawer>
  );
}

function HolderRights({ rights, holderKey }: { rights: Rights; holderKey: HolderKey }): ReactNode {
  const now = useNow(30_000);
  const { effective, grants } = rights;
  return (
    <div className={styles['drawer']}>
      <div className={styles['may']}>
        <span className={styles['note']}>{texts.effective}</span>
        <strong>{effective ?? texts.effectiveNothing}</strong>
        {effective && <span className={list['soft']}>{texts.meaning[effective]}</span>}
      </div>
      {grants.length > 0 && (
        <section className={styles['section']}>
          <h3>{texts.why}</h3>
          <ul className={styles['grants']}>
            {grants.map((entry) => (
              <Origin key={entry.group?.id ?? 'direct'} entry={entry} now={now} />
            ))}
          </ul>
        </section>
      )}
      <Change rights={rights} holderKey={holderKey} />
      {holderKey.of === 'groups' && (
        <section className={styles['section']}>
          <h3>{texts.members}</h3>
          <Button
            variant="default"
            renderRoot={(props: object) => <Link to="/admin/users" search={{ group: holderKey.id }} {...props} />}
          >
            {texts.showMembers}
          </Button>
        </section>
      )}
    </div>
  );
}

function Origin({ entry: { permission, group, by, since }, now }: { entry: Grant; now: number }): ReactNode {
  return (
    <li>
      <span className={styles['permission']}>{permission}</span>
      <span>{group ? texts.origin.group(group.name) : texts.origin.direct}</span>
      <span className={styles['by']}>
        {by ? texts.origin.grantedBy(by.username) : texts.origin.byPlatform} <RelativeTime at={since} now={now} />
      </span>
    </li>
  );
}

/** Changes what is held directly. */
function Change({ rights, holderKey }: { rights: Rights; holderKey: HolderKey }): ReactNode {
  const queries = useQueryClient();
  const { data: permissions = [] } = useQuery(permissionsQuery);
  const direct = rights.grants.find(({ group }) => group === null);
  const hint = useId();
  const whyNotGive = useMay(OPERATIONS.give, holderKey.workspaceId);
  const whyNotRevoke = useMay(OPERATIONS.revoke, holderKey.workspaceId);
  const reread = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['access', holderKey.workspaceId] }),
      queries.invalidateQueries({ queryKey: ['rights'] }),
    ]);
  const give = useMutation({ mutationFn: (id: number) => grant(holderKey, id), onSuccess: reread });
  return (
    <section className={styles['section']}>
      <h3>{texts.change}</h3>
      <SegmentedControl
        size="xs"
        fullWidth
        w="100%"
        aria-label={texts.change}
        disabled={give.isPending || whyNotGive !== null}
        aria-describedby={hint}
        data={permissions.map(({ permission_id: id, name: label }) => ({ value: String(id), label }))}
        value={direct ? String(direct.permissionId) : ''}
        onChange={(value) => give.mutate(Number(value))}
      />
      <span id={hint} className={styles['note']}>
        {whyNotGive ?? texts.changeHint}
      </span>
      {give.isError && <ProblemPanel error={give.error} />}
      {direct && (
        <Confirm
          action={texts.revoke}
          why={whyNotRevoke}
          question={texts.revokeTitle(rights.name)}
          consequence={texts.revokeHint}
          run={async () => {
            await revoke(holderKey, direct.permissionId);
            await reread();
          }}
        />
      )}
    </section>
  );
}
