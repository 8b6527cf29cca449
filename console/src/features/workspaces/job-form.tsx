import { Select, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ClusterChoice } from '../../shared/cluster-choices';
import { ClusterSelect } from '../../shared/cluster-select';
import { faultAt, faultsOfError } from '../../shared/field-faults';
import { ProblemPanel } from '../../shared/problem-panel';
import { texts } from '../../shared/texts';
import {
  GROUPS,
  type GroupName,
  isOf,
  type JobField,
  type Language,
  LANGUAGES,
  type Values,
} from '../../shared/jobs/job-fields';
import styles from '../../shared/form.module.css';

interface JobFormProps {
  values: Values;
  language: Language;
  cluster: string | null;
  clusters: readonly ClusterChoice[];
  /** The API's refusal of what was sent. Its words about a field stand there. */
  error: unknown;
  onValues: (values: Values) => void;
  /** Absent for a job that exists, whose type cannot be changed. */
  onLanguage?: (language: Language) => void;
  onCluster: (cluster: string | null) => void;
}

const t = texts.workspaces.job;

/** The settings of a job. */
export function JobForm(props: JobFormProps): ReactNode {
  const { values, language, cluster, clusters, error, onValues, onLanguage, onCluster } = props;
  const faults = faultsOfError(error);
  return (
    <div className={styles['form']}>
      {error !== null && error !== undefined && <ProblemPanel error={error} />}
      {(Object.keys(GROUPS) as GroupName[]).map((group) => (
        <fieldset key={group} className={styles['group']}>
          <legend className={styles['legend']}>{t.groups[group]}</legend>
          <div className={styles['fields']}>
            {group === 'program' && (
              <>
                {onLanguage && (
                  <Select
                    label={t.fields.job_type[0]}
                    description={t.fields.job_type[1]}
                    allowDeselect={false}
                    data={LANGUAGES.map((value) => ({ value, label: t.types[value] }))}
                    value={language}
                    error={faultAt(faults, 'job_type')}
                    onChange={(value) => onLanguage(LANGUAGES.find((one) => one === value) ?? 'Python3')}
                  />
                )}
                <ClusterSelect
                  clusters={clusters}
                  hint={texts.workspaces.runFile.clusterHint}
                  value={cluster}
                  error={faultAt(faults, 'cluster_id')}
                  onChange={onCluster}
                />
              </>
            )}
            {GROUPS[group]
              .filter((field) => isOf(field, language))
              .map((field) => (
                <FieldInput
                  key={field.name}
                  field={field}
                  value={values[field.name] ?? ''}
                  fault={faultAt(faults, field.name)}
                  onChange={(value) => onValues({ ...values, [field.name]: value })}
                />
              ))}
          </div>
        </fieldset>
      ))}
    </div>
  );
}

interface FieldInputProps {
  field: JobField;
  value: string;
  fault: string | undefined;
  onChange: (value: string) => void;
}

function FieldInput({ field: { name, kind }, value, fault, onChange }: FieldInputProps): ReactNode {
  const [label, hint] = t.fields[name];
  const isLong = kind === 'lines' || kind === 'code';
  const description = kind === 'lines' ? [hint, t.linesHint].filter(Boolean).join('. ') : hint || undefined;
  if (isLong) {
    return (
      <Textarea
        className={kind === 'code' ? styles['wide'] : undefined}
        classNames={{ input: styles['code'] }}
        label={label}
        description={description}
        value={value}
        error={fault}
        rows={kind === 'code' ? 10 : 3}
        spellCheck={false}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  return (
    <TextInput
      label={label}
      description={description}
      placeholder={name === 'name' ? undefined : t.optional}
      inputMode={kind === 'number' ? 'numeric' : undefined}
      value={value}
      error={fault}
      spellCheck={false}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
