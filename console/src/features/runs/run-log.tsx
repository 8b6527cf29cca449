import { SegmentedControl } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { JobRead } from 'managed-spark/types';
import { type ReactNode, useCallback, useMemo } from 'react';
import { apiUrl } from '../../api/client';
import { plainText } from '../../shared/log/ansi';
import { isFault } from '../../shared/log/log-search';
import { LogViewer } from '../../shared/log/log-viewer';
import type { LogLine } from '../../shared/log/log-window';
import { texts } from '../../shared/texts';
import { logSource, type LogStream, type RunKey } from './run-api';
import { isActive } from './runs-search';

const STREAMS: readonly LogStream[] = ['stderr', 'stdout', 'events'];

/** So much of a reason is enough to find it in the log. */
const QUOTE_LENGTH = 60;

/** The output of a run. */
export function RunLog({ run, runKey: { workspaceId, runId } }: { run: JobRead; runKey: RunKey }): ReactNode {
  const { stream = 'stderr' } = useSearch({ from: '/runs/$workspaceId/$runId' });
  const navigate = useNavigate({ from: '/runs/$workspaceId/$runId' });
  const source = useMemo(() => logSource({ workspaceId, runId }, stream), [workspaceId, runId, stream]);
  const { job_status: status, reason } = run;
  const hasFailed = status === 'ERROR' || status === 'TERMINATED';
  const findFirst = useCallback(
    (lines: readonly LogLine[]) => (hasFailed ? faultIn(lines, reason) : -1),
    [hasFailed, reason],
  );
  return (
    <LogViewer
      key={stream}
      label={`${texts.run.tabs.log}: ${texts.run.streams[stream]}`}
      source={source}
      isLive={isActive(status)}
      downloadUrl={apiUrl(`/workspace/${workspaceId}/spark/job/${runId}/log/${stream}`)}
      fileName={`run-${runId}-${stream}.log`}
      findFirst={findFirst}
    >
      <SegmentedControl
        size="xs"
        aria-label={texts.run.streams.label}
        value={stream}
        data={STREAMS.map((value) => ({ value, label: texts.run.streams[value] }))}
        onChange={(value) => void navigate({ search: (before) => ({ ...before, stream: value }), replace: true })}
      />
    </LogViewer>
  );
}

/** Returns the index of the line that says why the run has failed: the last one that the reason quotes, or else that names a fault. */
function faultIn(lines: readonly LogLine[], reason: string | null): number {
  const quote =
    (reason ?? '')
      .replace(/^[^:]{0,30}: /, '')
      .slice(0, QUOTE_LENGTH)
      .split('. ')[0] ?? '';
  const quoted = quote.length > 8 ? lines.findLastIndex(({ text }) => plainText(text).includes(quote)) : -1;
  return quoted === -1 ? lines.findLastIndex(({ text }) => isFault(text)) : quoted;
}
