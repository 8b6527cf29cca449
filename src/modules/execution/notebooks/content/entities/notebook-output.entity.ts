import { Check, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** A piece of the outputs of a cell: a whole one, or a part of a stream, whose parts follow each other. */
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
  /** Which of the cell's outputs it is, or is a part of. */
  @Col.int() output: number;
  /** Name of the stream that it is a part of. */
  @Col.text({ nullable: true }) stream: string | null;
  @Col.bigint() bytes: number;
  /** JSON of the output; of a stream's part the inside of a JSON string, so that parts can be joined. Null if it lies in the blob store. */
  @Col.text({ nullable: true }) content: string | null;
  /** By which the blob store has the content. */
  @Col.text({ nullable: true }) sha256: string | null;
}
