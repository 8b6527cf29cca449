import { Button, Modal } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { ProblemPanel } from '../../shared/problem-panel';
import { texts } from '../../shared/texts';
import styles from './workspaces.module.css';

interface QuestionProps {
  title: string;
  /** The answer that does something. */
  confirm: string;
  isDangerous?: boolean;
  isReady?: boolean;
  /** Stands at the left of the answers. */
  aside?: ReactNode;
  children: ReactNode;
  act: () => Promise<unknown>;
  onClose: () => void;
}

/** A question before something is done. It stays open with the error if that is refused. */
export function Question(props: QuestionProps): ReactNode {
  const { title, confirm, isDangerous = false, isReady = true, aside, children, act, onClose } = props;
  const acting = useMutation({ mutationFn: act, onSuccess: onClose });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    acting.mutate();
  };
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <form className={styles['form']} onSubmit={submit}>
        {children}
        {acting.isError && <ProblemPanel error={acting.error} />}
        <div className={styles['answers']}>
          {aside && <span className={styles['grow']}>{aside}</span>}
          <Button variant="default" onClick={onClose}>
            {texts.workspaces.cancel}
          </Button>
          <Button
            type="submit"
            color={isDangerous ? 'red' : undefined}
            loading={acting.isPending}
            disabled={!isReady}
            data-autofocus={isDangerous || undefined}
          >
            {confirm}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
