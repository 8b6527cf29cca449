import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { ActionButton } from './action-button';
import styles from './confirm.module.css';
import { Question } from './question';
import type { Reason } from './rights/rights';

interface ConfirmProps {
  /** The text of the button, and of the answer that does it. */
  action: string;
  question: string;
  /** Says what happens then, and whether it can be undone. */
  consequence: string;
  /** Names the record for screen readers, where several buttons have one text. */
  label?: string;
  /** Says why it cannot be done now; null if it can. */
  why?: Reason;
  run: () => Promise<unknown>;
}

/** A button for what cannot be undone; it asks first. */
export function Confirm({ action, question, consequence, label = action, why = null, run }: ConfirmProps): ReactNode {
  const [isAsking, asking] = useDisclosure(false);
  return (
    <>
      <ActionButton
        why={why}
        variant="default"
        className={why === null ? styles['danger'] : undefined}
        aria-label={label}
        onClick={asking.open}
      >
        {action}
      </ActionButton>
      {isAsking && (
        <Question title={question} confirm={action} isDangerous act={run} onClose={asking.close}>
          <p>{consequence}</p>
        </Question>
      )}
    </>
  );
}
