import { storable, subjectOf } from './audit-subject';

describe('subjectOf', () => {
  it('takes ids and names and nothing else', () => {
    const path = { workspace_id: '7' };
    const query = { file_path: 'a/b.py', limit: '5', is_dir: 'true', password: 'secret' };
    expect(subjectOf(path, query)).toEqual({ workspace_id: 7, file_path: 'a/b.py' });
  });

  it('converts ids of path and response to numbers', () => {
    const response = {
      cluster_id: '12',
      name: 'c',
      created_by_user_id: '1',
      conf: { secret_id: 's' },
      tenant_id: 'uuid',
    };
    expect(subjectOf({ cluster_id: '12' }, response)).toEqual({ cluster_id: 12, name: 'c', tenant_id: 'uuid' });
  });

  it('keeps a name that consists of digits as a string', () => {
    expect(subjectOf({ cluster_name: '12' })).toEqual({ cluster_name: '12' });
  });

  it('reads the record that a response wraps', () => {
    expect(subjectOf({ CosiStart: { engine_cluster_instance_id: 3, status: 'INIT' } })).toEqual({
      engine_cluster_instance_id: 3,
    });
  });

  it('has at most 24 entries with texts of at most 256 characters', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}_id`, String(index)]));
    expect(Object.keys(subjectOf(many))).toHaveLength(24);
    expect(subjectOf({ [`${'k'.repeat(64)}_id`]: '1', x_name: 'n'.repeat(1000) })).toEqual({ x_name: 'n'.repeat(256) });
  });

  it.each([null, undefined, 'text', 5, [{ cluster_id: 1 }]])('finds nothing in %p', (source) => {
    expect(subjectOf(source)).toEqual({});
  });
});

describe('storable', () => {
  it('drops characters that PostgreSQL cannot store', () => {
    expect(storable('a\0b\ud800c')).toBe('ab\ufffdc');
  });
});
