import { PasswordInput, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import { Question } from '../../shared/question';
import { peopleChanges } from './people-api';
import { RoleChoice, type TenantRole } from './role-choice';

const texts = adminTexts.users;

export function CreateUserDialog({ onClose }: { onClose: () => void }): ReactNode {
  const queries = useQueryClient();
  const [user, setUser] = useState({ username: '', display_name: '', email: '', password: '' });
  const [role, setRole] = useState<TenantRole>('USER');
  const set = (name: keyof typeof user) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setUser((before) => ({ ...before, [name]: value }));
  };
  return (
    <Question
      title={texts.create}
      confirm={texts.create}
      act={() => peopleChanges(queries).createUser({ ...user, display_name: user.display_name || null }, role)}
      onClose={onClose}
    >
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
      <RoleChoice label={texts.role} role={role} onChange={setRole} />
    </Question>
  );
}
