import { Check, Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../platform/kernel/persistence/columns';

/** The only row says which releases may use this schema. Migrations create and change it. */
@Entity('schema_compatibility')
@Check('ck_schema_compatibility_single', 'is_single')
export class SchemaCompatibility {
  @PrimaryColumn({ type: 'boolean', default: true, primaryKeyConstraintName: 'pk_schema_compatibility' })
  is_single: boolean;
  /** Name of a migration. A release that does not have it must not use the schema. */
  @Col.text() required_migration: string;
}
