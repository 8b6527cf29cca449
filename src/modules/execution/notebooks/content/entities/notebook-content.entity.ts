import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** A large text of notebooks in the blob store, deduplicated within the tenant. */
@Entity('notebook_contents')
@Index('uq_notebook_contents_blob', ['blob_key'], { unique: true })
@Index('ix_notebook_contents_used', ['used_at'])
export class NotebookContent {
  @PrimaryColumn({ type: 'uuid' }) tenant_id: string;
  @PrimaryColumn({ type: 'text' }) sha256: string;
  @Col.text() blob_key: string;
  @Col.bigint() size_bytes: number;
  /** Last time a writer was about to reference it. */
  @Col.time({ default: () => 'platform_now()' }) used_at: Date;
}
