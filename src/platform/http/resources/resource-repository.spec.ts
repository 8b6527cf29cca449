import 'reflect-metadata';
import { type DataSource, Entity } from 'typeorm';
import '../../../modules/foundation/iam/entities/user.entity';
import type { AuthorNames } from '../../kernel/dto/response-fields';
import { Col, TenantColumns } from '../../kernel/persistence/columns';
import { RecordKind } from './record-kind';
import { RecordRepository, ResourceRepository } from './resource-repository';

@Entity('probes')
@RecordKind({ code: 'PROBE', label: 'probe' })
class Probe extends TenantColumns {
  @Col.identity('pk_probes') probe_id: number;
}

const dataSource = {} as DataSource;

describe('a repository of records of tenants', () => {
  it('must extend ResourceRepository', () => {
    class Careless extends RecordRepository<Probe, Probe & AuthorNames, object> {}
    expect(() => new Careless(dataSource, { entity: Probe })).toThrow('Probe belongs to a tenant');
  });

  it('knows the key of its entity', () => {
    expect(new ResourceRepository(dataSource, { entity: Probe }).idColumn).toBe('probe_id');
  });
});
