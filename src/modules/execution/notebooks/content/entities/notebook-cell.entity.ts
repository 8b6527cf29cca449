import { Check, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { CellType } from '../../../../../../libs/notebooks/ipynb';
import { Col, oneOf } from '../../../../../platform/kernel/persistence/columns';
import { NotebookDocumentRow } from './notebook-document.entity';

/** A cell of the current notebook, and the result of its last execution. */
@Entity('notebook_cells')
@Check('ck_notebook_cells_type', oneOf('cell_type', ['code', 'markdown', 'raw']))
@Check('ck_notebook_cells_counts', 'outputs >= 0 AND pieces >= 0 AND bytes >= 0')
export class NotebookCell {
  @ForeignKey(() => NotebookDocumentRow, { name: 'fk_notebook_cells_document' })
  @PrimaryColumn({ type: 'bigint' })
  job_conf_id: number;
  @PrimaryColumn({ type: 'text' }) cell_uuid: string;
  @Col.text() cell_type: CellType;
  /** The run that executed it last. */
  @Col.bigint({ nullable: true }) run_id: number | null;
  @Col.int({ nullable: true }) execution_count: number | null;
  /** Number of outputs so far, including dropped ones, whose numbers are not reused. */
  @Col.int({ default: 0 }) outputs: number;
  @Col.int({ default: 0 }) pieces: number;
  @Col.bigint({ default: 0 }) bytes: number;
  /** Name of the stream if the last output is one, so that more text can be appended. */
  @Col.text({ nullable: true }) open_stream: string | null;
  /** Hex hash of the outputs as the API shows them; null until a comparison has computed it. */
  @Col.text({ nullable: true }) shown_sha256: string | null;
  /** True if outputs were dropped because of the limits. */
  @Col.bool({ default: false }) is_cut: boolean;
  /** True if the outputs are cleared when the next one arrives. */
  @Col.bool({ default: false }) clears_next: boolean;
  @Col.time({ nullable: true }) written_at: Date | null;
}
