import { Entity } from 'typeorm';
import { Col } from '../../../platform/persistence/columns';

/** One application of the reference data: which version of the files, what they held and when. */
@Entity('reference_data_versions')
export class ReferenceDataVersion {
  @Col.identity('reference_data_version_id', 'pk_reference_data_versions') referenceDataVersionId: string;
  @Col.int('version') version: number;
  @Col.text('content_hash') contentHash: string;
  @Col.time('applied_at', { default: () => 'now()' }) appliedAt: Date;
}
