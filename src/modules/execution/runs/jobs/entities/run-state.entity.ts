import { ForeignKey, Entity, Index } from 'typeorm';
import { StateHistoryColumns } from '../../../../../platform/kernel/history/state-history.columns';
import { Col } from '../../../../../platform/kernel/persistence/columns';
import type { RunStep } from '../run-state';
import { Run } from './run.entity';

@Entity('run_states')
@Index('uq_run_states_sequence', ['run_id', 'sequence'], { unique: true })
@Index('ix_run_states_xact', ['xact_id'])
export class RunStateEntry extends StateHistoryColumns {
  @Col.identity() run_state_id: number;
  @ForeignKey(() => Run, { name: 'fk_run_states_run' })
  @Col.bigint()
  run_id: number;
  /** The step of the platform's work in which the run entered the state; null in entries of earlier releases. */
  @Col.text({ nullable: true }) step: RunStep | null;
}
