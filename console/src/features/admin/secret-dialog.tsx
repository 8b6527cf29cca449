import { PasswordInput, Select, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { SecretType } from 'managed-spark/types';
import { type ReactNode, useState } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import { Question } from '../../shared/question';
import styles from './admin.module.css';
import { SECRET_FIELDS, SECRET_TYPES } from './secret-fields';
import { addSecret, rotateSecret, type Secret, type SecretPlace } from './secrets-api';

const texts = adminTexts.secrets;

interface SecretDialogProps {
  place: SecretPlace;
  /** The secret that gets new values; a new secret without it. */
  secret?: Secret;
  onClose: () => void;
}

/** Takes the values of a new secret, or new values of one that exists. */
export function SecretDialog({ place, secret, onClose }: SecretDialogProps): ReactNode {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [type, setType] = useState<SecretType>(secret?.type ?? 'ENVIRONMENT VARIABLE');
  const [values, setValues] = useState<Record<string, string>>({});
  const filled: Record<string, string> = {};
  for (const { name: field } of SECRET_FIELDS[type]) if (values[field]) filled[field] = values[field];
  const store = async () => {
    if (secret) await rotateSecret(place, secret.id, { secret_type: type, ...filled });
    else await addSecret(place, { name, description: description || null, secret_type: type, ...filled });
    await queries.invalidateQueries({ queryKey: ['secrets'] });
  };
  return (
    <Question
      title={secret ? texts.rotateTitle(secret.name) : texts.create}
      confirm={secret ? texts.rotate : texts.create}
      act={store}
      onClose={onClose}
    >
      {secret ? (
        <p className={styles['note']}>{texts.rotateHint}</p>
      ) : (
        <>
          <TextInput
            label={texts.name}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            autoComplete="off"
            required
            withAsterisk={false}
            data-autofocus
          />
          <TextInput
            label={texts.description}
            value={description}
            onChange={({ currentTarget }) => setDescription(currentTarget.value)}
            autoComplete="off"
          />
          <Select
            size="xs"
            label={texts.type}
            data={SECRET_TYPES}
            value={type}
            allowDeselect={false}
            onChange={(value) => setType(SECRET_TYPES.find((one) => one === value) ?? type)}
          />
        </>
      )}
      {SECRET_FIELDS[type].map(({ name: field, label, kind, isOptional }) => {
        const Input = kind === 'password' ? PasswordInput : kind === 'text' ? Textarea : TextInput;
        return (
          <Input
            key={field}
            size="xs"
            label={label}
            value={values[field] ?? ''}
            onChange={({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
              setValues((before) => ({ ...before, [field]: value }))
            }
            required={!isOptional}
            withAsterisk={false}
            autoComplete="off"
          />
        );
      })}
      <span className={styles['note']}>{texts.hidden}</span>
    </Question>
  );
}
