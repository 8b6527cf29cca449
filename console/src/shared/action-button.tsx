import { ActionIcon, type ActionIconProps, Button, type ButtonProps, Menu, Tooltip } from '@mantine/core';
import { type ComponentPropsWithoutRef, type ReactNode, type Ref, useId } from 'react';
import styles from './action-button.module.css';
import { Icon, type IconName } from './icons';
import type { Reason } from './rights/rights';

/** The reason is shown to those who point, tap or come by the keyboard. */
const EVENTS = { hover: true, focus: true, touch: true };
const WIDTH = 320;

interface Forbiddable {
  /** Says why the action cannot be done now; null if it can. */
  why: Reason;
}

/** Attributes of a control that cannot be used, but keeps the focus: a disabled one could not say why. */
function attributesOf(why: Reason, describedBy: string) {
  return why === null ? {} : { 'data-disabled': true, 'aria-disabled': true, 'aria-describedby': describedBy };
}

type ActionButtonProps = Forbiddable &
  ButtonProps &
  Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps | 'disabled'> & {
    ref?: Ref<HTMLButtonElement>;
    /** Renders the button as a link, while it can be used. */
    renderRoot?: (props: Record<string, unknown>) => ReactNode;
  };

/** A button for an action that the user may not do, or that the state forbids, at times. Then it says why. */
export function ActionButton({ why, onClick, renderRoot, ...props }: ActionButtonProps): ReactNode {
  const id = useId();
  return (
    <>
      <Tooltip label={why} disabled={why === null} events={EVENTS} multiline maw={WIDTH}>
        <Button
          {...props}
          {...(why === null && renderRoot ? { renderRoot } : {})}
          {...attributesOf(why, id)}
          onClick={why === null ? onClick : (event) => event.preventDefault()}
        />
      </Tooltip>
      <Why id={id} why={why} />
    </>
  );
}

type IconActionProps = Forbiddable &
  ActionIconProps & {
    icon: IconName;
    iconSize: number;
    label: string;
    /** Shown instead of the label, while it can be used. */
    hint?: string;
    onClick: () => void;
  };

/** Like {@link ActionButton}, as a picture. */
export function IconAction({
  why,
  icon,
  iconSize,
  label,
  hint = label,
  onClick,
  ...props
}: IconActionProps): ReactNode {
  const id = useId();
  return (
    <>
      <Tooltip label={why ?? hint} openDelay={600} events={EVENTS} multiline maw={WIDTH}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={label}
          {...props}
          {...attributesOf(why, id)}
          onClick={why === null ? onClick : undefined}
        >
          <Icon name={icon} size={iconSize} />
        </ActionIcon>
      </Tooltip>
      <Why id={id} why={why} />
    </>
  );
}

interface ActionItemProps extends Forbiddable {
  color?: string;
  leftSection?: ReactNode;
  rightSection?: ReactNode;
  children: ReactNode;
  onClick: () => void;
}

/** Like {@link ActionButton}, as an item of a menu. The reason is a part of it, and the arrow keys reach it. */
export function ActionItem({ why, color, children, onClick, ...props }: ActionItemProps): ReactNode {
  if (why === null) {
    return (
      <Menu.Item {...props} {...(color === undefined ? {} : { color })} onClick={onClick}>
        {children}
      </Menu.Item>
    );
  }
  return (
    <Menu.Item {...props} className={styles['forbidden']} aria-disabled closeMenuOnClick={false}>
      {children}
      <span className={styles['why']}>{why}</span>
    </Menu.Item>
  );
}

/** The reason for screen readers, which read it after the name of the control. */
function Why({ id, why }: { id: string; why: Reason }): ReactNode {
  return why === null ? null : (
    <span id={id} className="visually-hidden">
      {why}
    </span>
  );
}
