import { Button, Modal } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { ActionButton } from './action-button';
import { commonTexts } from './common-texts';
import { ProblemPanel } from './problem-panel';
import type { Reason } from './rights/rights';
import styles from './question.module.css';

interface QuestionProps {
  title: string;
  /** The answer that does something. */
  confirm: string;
  /** The answer that does nothing. */
  cancel?: string;
  isDangerous?: boolean;
  isReady?: boolean;
  /** Says why it cannot be done, however the form is filled in; null if it can. */
  why?: Reason;
  /** Stands at the left of the answers. */
  aside?: ReactNode;
  children: ReactNode;
  act: () => Promise<unknown>;
  onClose: () => void;
  /** Called once it is done, instead of `onClose`. */
  onDone?: () => void;
}

/** A question before something is done. It stays open with the error if that is refused. */
export function Question(props: QuestionProps): ReactNode {
  const { title, confirm, cancel = commonTexts.cancel, isDangerous = false, isReady = true, why = null } = props;
  const { aside, children, act, onClose, onDone = onClose } = props;
  // A secret may have been typed, which stays no longer than the dialog.
  const acting = useMutation({ mutationFn: act, onSuccess: onDone, gcTime: 0 });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (why === null) acting.mutate();
  };
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <form className={styles['form']} onSubmit={submit}>
        {children}
        {why !== null && <p className={styles['why']}>{why}</p>}
        {acting.isError && <ProblemPanel error={acting.error} />}
        <div className={styles['answers']}>
          {aside && <span className={styles['aside']}>{aside}</span>}
          <Button variant="default" onClick={onClose}>
            {cancel}
          </Button>
          <ActionButton
            why={why}
            type="submit"
            color={isDangerous ? 'red.9' : undefined}
            loading={acting.isPending}
            disabled={why === null && !isReady}
            data-autofocus={isDangerous || undefined}
          >
            {confirm}
          </ActionButton>
        </div>
      </form>
    </Modal>
  );
}
