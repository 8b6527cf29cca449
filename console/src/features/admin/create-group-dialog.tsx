import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import { Question } from '../../shared/question';
import { peopleChanges } from './people-api';
import { RoleChoice, type TenantRole } from './role-choice';

const texts = adminTexts.groups;

export function CreateGroupDialog({ onClose }: { onClose: () => void }): ReactNode {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [mail, setMail] = useState('');
  const [role, setRole] = useState<TenantRole>('USER');
  return (
    <Question
      title={texts.create}
      confirm={texts.create}
      act={() => peopleChanges(queries).createGroup({ group_name: name, group_mail: mail || null }, role)}
      onClose={onClose}
    >
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
      <RoleChoice label={texts.role} role={role} onChange={setRole} />
    </Question>
  );
}
