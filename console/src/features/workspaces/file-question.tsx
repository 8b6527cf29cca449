import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { texts } from '../../shared/texts';
import { deleteFile, makeFile, makeFolder, moveFile } from './files-api';
import { cleanPath, joined, nameOf } from './paths';
import { Question } from '../../shared/question';
import { RunFile } from './run-file';

/** Names what somebody wants to do with a file or in a folder. */
export type AskedOfFile =
  | { what: 'file' | 'folder'; folder: string }
  | { what: 'run' | 'move'; path: string }
  | { what: 'delete'; path: string; isFolder: boolean };

interface FileQuestionProps<A extends AskedOfFile> {
  workspaceId: number;
  asked: A;
  onClose: () => void;
}

const t = texts.workspaces.files;

export function FileQuestion({ asked, ...rest }: FileQuestionProps<AskedOfFile>): ReactNode {
  switch (asked.what) {
    case 'file':
    case 'folder':
      return <NewEntry asked={asked} {...rest} />;
    case 'move':
      return <Move path={asked.path} {...rest} />;
    case 'run':
      return <RunFile path={asked.path} {...rest} />;
    case 'delete':
      return <Delete asked={asked} {...rest} />;
  }
}

type Part = Omit<FileQuestionProps<AskedOfFile>, 'asked'>;

function NewEntry({ workspaceId, asked, onClose }: Part & { asked: { what: 'file' | 'folder'; folder: string } }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [path, setPath] = useState('');
  const full = joined(asked.folder, cleanPath(path));
  const act = async () => {
    if (asked.what === 'folder') await makeFolder(workspaceId, full);
    else await makeFile(workspaceId, full);
    void queries.invalidateQueries({ queryKey: ['files', workspaceId] });
    if (asked.what === 'file') {
      await navigate({ to: '/workspaces/$workspaceId/file', params: { workspaceId }, search: { path: full } });
    } else await navigate({ to: '/workspaces/$workspaceId', params: { workspaceId }, search: { folder: full } });
  };
  return (
    <Question
      title={asked.what === 'file' ? t.fileTitle : t.folderTitle}
      confirm={t.create}
      isReady={cleanPath(path) !== ''}
      act={act}
      onClose={onClose}
    >
      <TextInput
        label={t.path}
        description={t.pathHint}
        value={path}
        onChange={({ currentTarget: { value } }) => setPath(value)}
        data-autofocus
      />
    </Question>
  );
}

function Move({ workspaceId, path, onClose }: Part & { path: string }): ReactNode {
  const queries = useQueryClient();
  const [to, setTo] = useState(path);
  const act = async () => {
    await moveFile(workspaceId, path, cleanPath(to));
    await queries.invalidateQueries({ queryKey: ['files', workspaceId] });
  };
  return (
    <Question
      title={t.moveTitle(nameOf(path))}
      confirm={t.moveConfirm}
      isReady={cleanPath(to) !== '' && cleanPath(to) !== path}
      act={act}
      onClose={onClose}
    >
      <TextInput
        label={t.path}
        description={t.pathHint}
        value={to}
        onChange={({ currentTarget: { value } }) => setTo(value)}
        data-autofocus
      />
    </Question>
  );
}

function Delete({ workspaceId, asked, onClose }: Part & { asked: { path: string; isFolder: boolean } }): ReactNode {
  const queries = useQueryClient();
  const act = async () => {
    await deleteFile(workspaceId, asked.path);
    await queries.invalidateQueries({ queryKey: ['files', workspaceId] });
  };
  return (
    <Question
      title={t.deleteTitle(nameOf(asked.path))}
      confirm={t.deleteConfirm}
      isDangerous
      act={act}
      onClose={onClose}
    >
      <p>{asked.isFolder ? t.deleteFolder : t.deleteFile}</p>
    </Question>
  );
}
