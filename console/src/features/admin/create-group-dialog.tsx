import { Button, Modal, SegmentedControl, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import { commonTexts } from '../../shared/common-texts';
import { ProblemPanel } from '../../shared/problem-panel';
import styles from './admin.module.css';
import { peopleChanges, TENANT_ROLES } from './people-api';

const texts = adminTexts.groups;

export function CreateGroupDialog({ onClose }: { onClose: () => void }): ReactNode {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [mail, setMail] = useState('');
  const [role, setRole] = useState<(typeof TENANT_ROLES)[number]>('USER');
  const create = useMutation({
    mutationFn: () => peopleChanges(queries).createGroup({ group_name: name, group_mail: mail || null }, role),
    onSuccess: onClose,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Modal opened onClose={onClose} title={texts.create} centered>
      <form className={styles['stack']} onSubmit={submit}>
        <TextInput
          label={texts.name}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          required
          withAsterisk={false}
          data-autofocus
        />
        <TextInput
          label={texts.mail}
          type="email"
          value={mail}
          onChange={({ currentTarget }) => setMail(currentTarget.value)}
        />
        <div className={styles['block']}>
          <span className={styles['plain']}>{texts.role}</span>
          <SegmentedControl
            size="xs"
            aria-label={texts.role}
            data={[...TENANT_ROLES]}
            value={role}
            onChange={(value) => setRole(TENANT_ROLES.find((one) => one === value) ?? 'USER')}
          />
          <span className={styles['note']}>{adminTexts.users.roleMeaning[role]}</span>
        </div>
        {create.isError && <ProblemPanel error={create.error} />}
        <div className={styles['answers']}>
          <Button variant="default" onClick={onClose}>
            {commonTexts.cancel}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {texts.create}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
