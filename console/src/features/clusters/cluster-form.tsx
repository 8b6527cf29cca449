import { Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { clusterTexts as t } from '../../shared/cluster-texts';
import { faultAt, type FieldFaults } from '../../shared/field-faults';
import form from '../../shared/form.module.css';
import { type ClusterField, type FieldPath, GROUPS, type GroupName, isOf, type Values } from './cluster-fields';
import styles from './cluster-form.module.css';

/** A value that a field may have; one with a reason does not fit the rest. */
export interface Choice {
  value: string;
  label: string;
  hint?: string | undefined;
  reason?: string | undefined;
}

export type Choices = Readonly<Partial<Record<FieldPath, readonly Choice[]>>>;

interface ClusterFormProps {
  values: Values;
  choices: Choices;
  faults: FieldFaults;
  /** Reasons for which switches must stay off, by their paths. */
  offReasons: Readonly<Record<string, string>>;
  /** Fields that cannot change now. */
  fixed: ReadonlySet<string>;
  isNew: boolean;
  onChange: (path: FieldPath, value: string) => void;
}

/** The fields of a cluster, in groups. */
export function ClusterForm(props: ClusterFormProps): ReactNode {
  return (
    <div className={form['form']}>
      {(Object.keys(GROUPS) as GroupName[]).map((group) => (
        <fieldset key={group} className={form['group']}>
          <legend className={form['legend']}>{t.groups[group]}</legend>
          <div className={form['fields']}>
            {GROUPS[group]
              .filter((field) => isOf(field, props.values.cluster_type))
              .map((field) => (
                <FieldInput key={field.path} field={field} {...props} />
              ))}
          </div>
        </fieldset>
      ))}
    </div>
  );
}

function FieldInput({ field, ...props }: ClusterFormProps & { field: ClusterField }): ReactNode {
  const { path, kind } = field;
  const { values, choices, faults, fixed, isNew, offReasons } = props;
  const [label, hint] = wordsOf(path, values.cluster_type);
  const isFixed = fixed.has(path.split('.')[0] ?? path) || (path === 'cluster_type' && !isNew);
  const description = kind === 'lines' || kind === 'pairs' ? [hint, t.linesHint].filter(Boolean).join('. ') : hint;
  const Input = INPUTS[kind];
  return (
    <Input
      common={{
        id: `cluster-${path}`,
        label,
        description: description || undefined,
        disabled: isFixed,
        error: faultAt(faults, path),
      }}
      value={values[path] ?? ''}
      choices={choices[path] ?? []}
      offReason={offReasons[path]}
      onChange={(next) => props.onChange(path, next)}
    />
  );
}

interface InputProps {
  common: Common;
  value: string;
  choices: readonly Choice[];
  offReason: string | undefined;
  onChange: (value: string) => void;
}

const INPUTS: Readonly<Record<ClusterField['kind'], (props: InputProps) => ReactNode>> = {
  text: (props) => <ShortInput {...props} />,
  number: (props) => <ShortInput isNumber {...props} />,
  minutes: (props) => <ShortInput isNumber {...props} />,
  lines: (props) => <LongInput {...props} />,
  pairs: (props) => <LongInput {...props} />,
  code: (props) => <LongInput isWide {...props} />,
  switch: SwitchInput,
  choice: ChoiceInput,
  choices: ManyInput,
};

function ShortInput({ common, value, isNumber = false, onChange }: InputProps & { isNumber?: boolean }): ReactNode {
  return (
    <TextInput
      {...common}
      inputMode={isNumber ? 'numeric' : undefined}
      value={value}
      spellCheck={false}
      autoComplete="off"
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

function SwitchInput({ common, value, offReason, onChange }: InputProps): ReactNode {
  const isOn = value === 'true';
  return (
    <Checkbox
      {...common}
      className={styles['switch']}
      disabled={common.disabled || (!isOn && offReason !== undefined)}
      description={offReason ?? common.description}
      checked={isOn}
      onChange={({ currentTarget }) => onChange(String(currentTarget.checked))}
    />
  );
}

function LongInput({ common, value, isWide = false, onChange }: InputProps & { isWide?: boolean }): ReactNode {
  return (
    <Textarea
      {...common}
      className={isWide ? form['wide'] : undefined}
      classNames={{ input: form['code'] }}
      value={value}
      rows={3}
      spellCheck={false}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

interface Common {
  id: string;
  label: string;
  description: string | undefined;
  disabled: boolean;
  error: string | undefined;
}

function ChoiceInput({ common, value, choices, onChange }: InputProps): ReactNode {
  const isOptional = choices.some((choice) => choice.value === '');
  const chosen = choices.find((choice) => choice.value === value);
  return (
    <Select
      {...common}
      description={chosen?.reason ?? chosen?.hint ?? common.description}
      allowDeselect={false}
      searchable={choices.length > 8}
      data={choices.map((choice) => ({
        value: choice.value,
        label: choice.label,
        disabled: choice.reason !== undefined,
      }))}
      renderOption={({ option }) => {
        const { hint, reason } = choices.find((one) => one.value === option.value) ?? {};
        return (
          <span>
            {option.label}
            <span className={styles['reason']}>{reason ?? hint}</span>
          </span>
        );
      }}
      value={value === '' && !isOptional ? null : value}
      onChange={(next) => onChange(next ?? '')}
    />
  );
}

/** Several of a few records, each a box to tick. */
function ManyInput({ common, value, choices, onChange }: InputProps): ReactNode {
  const chosen = value === '' ? [] : value.split(',');
  const flip = (one: string) =>
    onChange((chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]).join(','));
  return (
    <fieldset className={styles['many']} id={common.id}>
      <legend className={styles['manyLabel']}>{common.label}</legend>
      {choices.length === 0 && <span className={styles['reason']}>{t.none}</span>}
      {choices.map((choice) => (
        <Checkbox
          key={choice.value}
          label={choice.label}
          disabled={common.disabled}
          checked={chosen.includes(choice.value)}
          onChange={() => flip(choice.value)}
        />
      ))}
      {common.error !== undefined && <p className={styles['fault']}>{common.error}</p>}
    </fieldset>
  );
}

function wordsOf(path: FieldPath, clusterType: string | undefined): readonly [string, string] {
  if (path === 'engine_cluster_spark_config.num_of_workers')
    return clusterType === 'STANDALONE' ? t.workersOf.STANDALONE : t.workersOf.CLUSTER;
  if (clusterType === 'CLUSTER' && (path === 'min_instances' || path === 'max_instances'))
    return t.instancesOfCluster[path];
  return t.fields[path];
}
