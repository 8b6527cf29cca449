import { Button, Modal, PasswordInput, SegmentedControl, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import { commonTexts } from '../../shared/common-texts';
import { ProblemPanel } from '../../shared/problem-panel';
import styles from './admin.module.css';
import { peopleChanges, TENANT_ROLES } from './people-api';

const texts = adminTexts.users;

export function CreateUserDialog({ onClose }: { onClose: () => void }): ReactNode {
  const queries = useQueryClient();
  const [user, setUser] = useState({ username: '', display_name: '', email: '', password: '' });
  const [role, setRole] = useState<(typeof TENANT_ROLES)[number]>('USER');
  const create = useMutation({
    mutationFn: () => peopleChanges(queries).createUser({ ...user, display_name: user.display_name || null }, role),
    onSuccess: onClose,
  });
  const set = (name: keyof typeof user) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setUser((before) => ({ ...before, [name]: value }));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Modal opened onClose={onClose} title={texts.create} centered>
      <form className={styles['stack']} onSubmit={submit}>
        <TextInput
          label={texts.username}
          value={user.username}
          onChange={set('username')}
          required
          withAsterisk={false}
          autoComplete="off"
          data-autofocus
        />
        <TextInput label={texts.display} value={user.display_name} onChange={set('display_name')} />
        <TextInput
          label={texts.email}
          type="email"
          value={user.email}
          onChange={set('email')}
          required
          withAsterisk={false}
        />
        <PasswordInput
          size="xs"
          label={texts.password}
          description={texts.passwordHint}
          value={user.password}
          onChange={set('password')}
          required
          withAsterisk={false}
          autoComplete="new-password"
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
          <span className={styles['note']}>{texts.roleMeaning[role]}</span>
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
