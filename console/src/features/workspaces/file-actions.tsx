import { ActionIcon, Menu } from '@mantine/core';
import type { WorkspaceFileRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { ActionButton, ActionItem } from '../../shared/action-button';
import { Icon } from '../../shared/icons';
import type { Reason } from '../../shared/rights/rights';
import { texts } from '../../shared/texts';
import type { AskedOfFile } from './file-question';
import { downloadUrl } from './files-api';
import { languageOf } from '../../shared/jobs/job-fields';
import { cleanPath } from './paths';
import list from '../../shared/list-screen.module.css';
import styles from './workspaces.module.css';

/** Says why the user may not run or change the files of the workspace. */
export interface FileReasons {
  run: Reason;
  change: Reason;
}

interface FileActionsProps {
  workspaceId: number;
  file: WorkspaceFileRead;
  ask: (asked: AskedOfFile) => void;
  why: FileReasons;
}

/** The actions of a file. A program has a button of its own for its run. */
export function FileActions({ workspaceId, file, ask, why }: FileActionsProps): ReactNode {
  const t = texts.workspaces.files;
  const path = cleanPath(file.full_file_path);
  return (
    <span className={`${styles['rowActions']} ${list['above']}`}>
      {!file.is_dir && languageOf(path) && (
        <ActionButton
          why={why.run}
          variant="default"
          size="compact-xs"
          leftSection={<Icon name="play" size={12} />}
          aria-label={texts.workspaces.runFile.title(file.file_name)}
          onClick={() => ask({ what: 'run', path })}
        >
          {t.run}
        </ActionButton>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t.actions(file.file_name)}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component="a" href={downloadUrl(workspaceId, path)} download>
            {file.is_dir ? t.downloadZip : t.download}
          </Menu.Item>
          <ActionItem why={why.change} onClick={() => ask({ what: 'move', path })}>
            {t.move}
          </ActionItem>
          <Menu.Divider />
          <ActionItem
            why={why.change}
            color="var(--failed)"
            onClick={() => ask({ what: 'delete', path, isFolder: file.is_dir })}
          >
            {t.delete}
          </ActionItem>
        </Menu.Dropdown>
      </Menu>
    </span>
  );
}
