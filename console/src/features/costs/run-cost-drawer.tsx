import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { getRunCost } from 'managed-spark/operations';
import type { RunCost, RunCostInterval } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { CopyAs } from '../../shared/copy-as';
import { costTexts } from '../../shared/cost-texts';
import { DetailDrawer } from '../../shared/detail-drawer';
import { type Fact, Facts } from '../../shared/facts';
import { number } from '../../shared/texts';
import { dateOf, durationText, exactTime } from '../../shared/time';
import table from '../../shared/plain-table.module.css';
import { gibHoursText, hoursOf, measureOf, unitsOf, unusedText, utcText } from './cost-format';
import { runCostQuery } from './costs-api';
import styles from './costs-screen.module.css';

const t = costTexts.run;

const DRAWER_WIDTH = 860;

interface RunCostDrawerProps {
  workspaceId: number;
  runId: number;
  onClose: () => void;
}

/** Shows what a run costs, and the intervals of the ledger that the cost is the sum of. */
export function RunCostDrawer({ workspaceId, runId, onClose }: RunCostDrawerProps): ReactNode {
  const { data: run, error, refetch } = useQuery(runCostQuery(workspaceId, runId));
  return (
    <DetailDrawer
      title={run ? t.title(run.name, runId) : `#${runId}`}
      width={DRAWER_WIDTH}
      error={error}
      onRetry={refetch}
      onClose={onClose}
    >
      {run && (
        <div className={styles['drawer']}>
          <Facts facts={factsOf(run)} />
          <div className={styles['ways']}>
            <CopyAs
              call={{ operation: getRunCost, path: { workspace_id: workspaceId, run_id: runId } }}
              {...(run.resource === 'job' && { command: `msp job cost ${runId} -w ${workspaceId}` })}
            />
            {run.resource === 'job' && (
              <Link to="/runs/$workspaceId/$runId" params={{ workspaceId, runId }}>
                {t.open}
              </Link>
            )}
          </div>
          {run.memory && <p className={styles['note']}>{costTexts.unusedRule}</p>}
          <h3 className={styles['title']}>{t.proof}</h3>
          <p className={styles['note']}>{t.rule}</p>
          {run.intervals.length > 0 && <Intervals run={run} />}
          {run.intervals.length === 0 && run.start_date !== null && <p className={styles['note']}>{t.noIntervals}</p>}
        </div>
      )}
    </DetailDrawer>
  );
}

function factsOf(run: RunCost): Fact[] {
  const { cost, cluster_id: clusterId, start_date: start, end_date: end } = run;
  const startedAt = dateOf(start);
  const endedAt = dateOf(end);
  const held = startedAt && `${exactTime(startedAt)} – ${endedAt ? exactTime(endedAt) : t.still}`;
  return [
    ...(cost.amount === null ? [] : [{ label: t.cost, value: measureOf(cost).text(cost) }]),
    { label: t.units, value: unitsOf(cost)(cost) },
    { label: t.share, value: `${costTexts.hours(hoursOf(cost)(cost))} (${number(cost.node_ms)} ms)` },
    { label: t.held, value: held ?? t.waiting },
    ...memoryOf(run),
    {
      label: t.cluster,
      value: (
        <Link to="/clusters/$clusterId" params={{ clusterId }} search={{ tab: 'history' }}>
          #{clusterId}
        </Link>
      ),
    },
  ];
}

/** Says which memory the run requested and used, and what the difference cost. */
function memoryOf({ cost, memory, start_date: start, end_date: end }: RunCost): Fact[] {
  if (start === null) return [];
  if (!memory) return [{ label: t.peak, value: end === null ? t.measuring : t.unmeasured }];
  const { requested_mb: requested, peak_mb: peak, sufficient_mb: sufficient, unused } = memory;
  const used = t.memory(number(peak));
  return [
    { label: t.requested, value: t.memory(number(requested)) },
    { label: t.peak, value: sufficient === null ? used : `${used} · ${t.sufficient(`${sufficient}m`)}` },
    { label: t.unused, value: `${unusedText(unused, measureOf(cost))} · ${gibHoursText(unused)}` },
  ];
}

function Intervals({ run: { cost, intervals, is_truncated: isTruncated } }: { run: RunCost }): ReactNode {
  return (
    <>
      <div className={table['frame']} tabIndex={0} role="region" aria-label={t.proof}>
        <table className={table['table']}>
          <thead>
            <tr>
              <th scope="col">{t.from}</th>
              <th scope="col">{t.until}</th>
              <th scope="col">{t.node}</th>
              <th scope="col" className={table['number']}>
                {t.time}
              </th>
              <th scope="col" className={table['number']}>
                {t.slots}
              </th>
              <th scope="col" className={table['number']}>
                {t.ms}
              </th>
            </tr>
          </thead>
          <tbody>
            {intervals.map((interval) => (
              <Interval key={`${interval.node_state_id} ${interval.from_date}`} interval={interval} />
            ))}
          </tbody>
          {!isTruncated && (
            <tfoot>
              <tr>
                <th scope="row" colSpan={5}>
                  {t.sum}
                </th>
                <td className={table['number']}>
                  <strong>{number(cost.node_ms)}</strong>
                </td>
              </tr>
            </tfoot>
          )}
        </table>
      </div>
      {isTruncated && <p className={styles['note']}>{t.truncated(number(intervals.length))}</p>}
    </>
  );
}

function Interval({ interval }: { interval: RunCostInterval }): ReactNode {
  const { from_date: from, to_date: to, node_id: node, machine_type: machine, is_spot: isSpot, slots } = interval;
  return (
    <tr>
      <td className="numbers">{utcText(from)}</td>
      <td className="numbers">{utcText(to)}</td>
      <td>
        #{node} · {machine}
        {isSpot && ` · ${t.spot}`}
      </td>
      <td className={table['number']}>{durationText(Date.parse(to ?? '') - Date.parse(from ?? ''))}</td>
      <td className={table['number']}>{t.oneOf(slots)}</td>
      <td className={table['number']}>{number(interval.share_ms)}</td>
    </tr>
  );
}
