import { Check, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { CellType } from '../../../../../../libs/notebooks/ipynb';
import { Col, oneOf } from '../../../../../platform/kernel/persistence/columns';
import { NotebookDocumentRow } from './notebook-document.entity';

/** A cell of a notebook as it is now, and what its last execution left. */
@Entity('notebook_cells')
@Check('ck_notebook_cells_type', oneOf('cell_type', ['code', 'markdown', 'raw']))
@Check('ck_notebook_cells_counts', 'outputs >= 0 AND pieces >= 0 AND bytes >= 0')
export class NotebookCell {
  @ForeignKey(() => NotebookDocumentRow, { name: 'fk_notebook_cells_document' })
  @PrimaryColumn({ type: 'bigint' })
  job_conf_id: number;
  /** Its id in the notebook. */
  @PrimaryColumn({ type: 'text' }) cell_uuid: string;
  @Col.text() cell_type: CellType;
  /** The run that executed it last. */
  @Col.bigint({ nullable: true }) run_id: number | null;
  @Col.int({ nullable: true }) execution_count: number | null;
  /** How many there were; the numbers of those that are left out are not used again. */
  @Col.int({ default: 0 }) outputs: number;
  @Col.int({ default: 0 }) pieces: number;
  @Col.bigint({ default: 0 }) bytes: number;
  /** The last output if it is a stream, which may go on. */
  @Col.text({ nullable: true }) open_stream: string | null;
  /** Of its outputs as the API shows them, in hex; null until somebody has had to compare them. */
  @Col.text({ nullable: true }) shown_sha256: string | null;
  /** Whether there was more than it may have. */
  @Col.bool({ default: false }) is_cut: boolean;
  /** Whether its outputs go when the next one comes. */
  @Col.bool({ default: false }) clears_next: boolean;
  @Col.time({ nullable: true }) written_at: Date | null;
}
