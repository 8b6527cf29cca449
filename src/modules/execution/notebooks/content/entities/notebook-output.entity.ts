import { Check, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** A piece of a cell's outputs: one whole output, or one of the consecutive parts of a stream. */
@Entity('notebook_outputs')
@Index('ix_notebook_outputs_content', ['sha256'], { where: 'sha256 IS NOT NULL' })
@Check('ck_notebook_outputs_content', '(content IS NULL) = (sha256 IS NOT NULL)')
@ForeignKey('NotebookCell', ['job_conf_id', 'cell_uuid'], ['job_conf_id', 'cell_uuid'], {
  name: 'fk_notebook_outputs_cell',
})
export class NotebookOutputPiece {
  @PrimaryColumn({ type: 'bigint' }) job_conf_id: number;
  @PrimaryColumn({ type: 'text' }) cell_uuid: string;
  @PrimaryColumn({ type: 'integer' }) number: number;
  /** Index of the output to which it belongs. */
  @Col.int() output: number;
  @Col.text({ nullable: true }) stream: string | null;
  @Col.bigint() bytes: number;
  /** JSON of the output. A part of a stream is the inside of a JSON string, so that parts can be concatenated. Null if it is in the blob store. */
  @Col.text({ nullable: true }) content: string | null;
  @Col.text({ nullable: true }) sha256: string | null;
}
