import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import styles from './confirm.module.css';
import { Question } from './question';

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
  return (
    <>
      <Button variant="default" className={styles['danger']} aria-label={label} onClick={asking.open}>
        {action}
      </Button>
      {isAsking && (
        <Question title={question} confirm={action} isDangerous act={run} onClose={asking.close}>
          <p>{consequence}</p>
        </Question>
      )}
    </>
  );
}
