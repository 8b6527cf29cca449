import { Entity } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

/** Records that a version of the reference data files was applied, and when. */
@Entity('reference_data_versions')
export class ReferenceDataVersion {
  @Col.identity('pk_reference_data_versions') reference_data_version_id: number;
  @Col.int() version: number;
  @Col.text() content_hash: string;
  @Col.time({ default: () => 'platform_now()' }) applied_at: Date;
}
