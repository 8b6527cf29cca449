import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { StateHistoryColumns } from '../../../platform/history/state-history.columns';
import { Col } from '../../../platform/persistence/columns';
import { Run } from './run.entity';

@Entity('run_states')
@Index('uq_run_states_sequence', ['runId', 'sequence'], { unique: true })
export class RunStateEntry extends StateHistoryColumns {
  @Col.identity('run_state_id') runStateId: string;
  @Col.bigint('run_id') runId: string;
  @ManyToOne(() => Run)
  @JoinColumn({ name: 'run_id', foreignKeyConstraintName: 'fk_run_states_run' })
  run: Run;
}
