import {
  type CatalogTypeName,
  type ReferenceData,
  SECRET_TYPE_ID,
  type SecretTypeName,
  type SecretTypeRecord,
} from '../../../foundation/reference-data';
import { assertFits, assertOpens, type SecretRole } from './attachable';

const flags = { supportsUnity: false, supportsHive: false, supportsStorageType: null };
const TYPES: SecretTypeRecord[] = Object.entries(SECRET_TYPE_ID).map(([name, id]) => ({
  ...flags,
  id,
  name: name as SecretTypeName,
  ...(name.startsWith('HIVE') ? { supportsHive: true } : {}),
  ...(name.startsWith('DATABRICKS') ? { supportsUnity: true } : {}),
  ...(name.startsWith('AWS') ? { supportsStorageType: 'Amazon S3' } : {}),
}));
const referenceData = { secretType: (id: number) => TYPES.find((type) => type.id === id) } as ReferenceData;

const fitting = (catalogType: CatalogTypeName, role: SecretRole): string[] =>
  TYPES.filter(({ id }) => {
    try {
      assertFits(catalogType, role, { name: 'secret', secret_type_id: id }, referenceData);
      return true;
    } catch {
      return false;
    }
  }).map(({ name }) => name);

describe('secrets for a catalog', () => {
  it('fit the metastore if the lookup says so', () => {
    expect(fitting('HIVE', 'metastore')).toEqual(['HIVE KERBEROS', 'HIVE BASIC']);
    expect(fitting('DATABRICKS UNITY', 'metastore')).toEqual(['DATABRICKS UNITY TOKEN']);
    expect(fitting('AWS GLUE', 'metastore')).toEqual([]);
  });

  it.each(['HIVE', 'DATABRICKS UNITY', 'AWS GLUE'] as const)(
    'fit the storage of %s if they open an object store',
    (type) => {
      expect(fitting(type, 'storage')).toEqual(['AWS ACCESS SECRET KEY PAIR']);
    },
  );

  it('are named in the error if they do not fit', () => {
    const secret = { name: 'mine', secret_type_id: SECRET_TYPE_ID['HIVE BASIC'] };
    expect(() => assertFits('DATABRICKS UNITY', 'metastore', secret, referenceData)).toThrow(
      'The secret "mine" is of type HIVE BASIC; the metastore secret of a catalog of type DATABRICKS UNITY must be of type DATABRICKS UNITY TOKEN.',
    );
  });

  it('include the one that the catalog requires', () => {
    for (const type of ['HIVE', 'DATABRICKS UNITY'] as const) {
      expect(() => assertOpens(type, { metastore: undefined, storage: 1 })).toThrow('a metastore secret is required');
      assertOpens(type, { metastore: 1, storage: null });
    }
    expect(() => assertOpens('AWS GLUE', { metastore: 1, storage: null })).toThrow('a storage secret is required');
    assertOpens('AWS GLUE', { metastore: null, storage: 1 });
  });
});
