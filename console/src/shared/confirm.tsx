import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { commonTexts } from './common-texts';
import styles from './confirm.module.css';
import { ProblemPanel } from './problem-panel';

interface ConfirmProps {
  /** The text of the button, and of the answer that does it. */
  action: string;
  question: string;
  /** Says what happens then, and whether it can be undone. */
  consequence: string;
  /** Names the record for screen readers, where several buttons have one text. */
  label?: string;
  run: () => Promise<unknown>;
}

/** A button for what cannot be undone; it asks first. */
export function Confirm({ action, question, consequence, label = action, run }: ConfirmProps): ReactNode {
  const [isAsking, asking] = useDisclosure(false);
  const act = useMutation({ mutationFn: run, onSuccess: asking.close });
  return (
    <>
      <Button
        variant="default"
        className={styles['danger']}
        aria-label={label}
        onClick={() => {
          act.reset();
          asking.open();
        }}
      >
        {action}
      </Button>
      <Modal opened={isAsking} onClose={asking.close} title={question} centered>
        <div className={styles['question']}>
          <p>{consequence}</p>
          {act.isError && <ProblemPanel error={act.error} />}
          <div className={styles['answers']}>
            <Button variant="default" onClick={asking.close}>
              {commonTexts.cancel}
            </Button>
            <Button color="red" loading={act.isPending} onClick={() => act.mutate()} data-autofocus>
              {action}
            </Button>
          </div>
        </div>
      </Modal>
    </>
  );
}
