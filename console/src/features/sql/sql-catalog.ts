import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { MetastoreCatalogRead } from 'managed-spark/types';
import { useMemo } from 'react';
import { defaultCatalogOf, metastoresQuery } from '../../shared/catalogs';
import { usableClustersQuery } from '../../shared/records';
import { serverQuery } from '../../shared/sql/sql-servers';
import type { SqlCatalog } from './catalog-completion';
import { CatalogNames } from './catalog-names';
import { catalogReader } from './catalog-reader';

/** Returns the catalog of the cluster of a SQL server. Without a server it is the tenant's only one; null if there is none. */
export function useSqlCatalog(workspaceId: number, server: number | undefined): SqlCatalog | null {
  const queries = useQueryClient();
  const hasServer = server !== undefined;
  const { data: metastores } = useQuery(metastoresQuery);
  const { data: clusters } = useQuery({ ...usableClustersQuery, enabled: hasServer });
  const { data: run } = useQuery({ ...serverQuery({ workspaceId, jobId: server ?? 0 }), enabled: hasServer });
  const cluster = hasServer ? clusters?.find(({ cluster_id: id }) => id === run?.cluster_id) : undefined;
  const metastoreId = hasServer ? cluster?.metastore_catalog?.metastore_catalog_id : onlyOne(metastores);
  const metastore = metastores?.find(({ metastore_catalog_id: id }) => id === metastoreId);
  return useMemo(() => {
    if (!metastore) return null;
    const { metastore_catalog_id: id, catalog_type: type } = metastore;
    const reader = catalogReader(workspaceId, id);
    return {
      names: new CatalogNames(queries, reader, { workspaceId, metastoreId: id }),
      catalogs: catalogsOf(metastore),
      hasCatalogs: type === 'DATABRICKS UNITY',
    };
  }, [queries, workspaceId, metastore]);
}

function onlyOne(metastores: readonly MetastoreCatalogRead[] | undefined): number | undefined {
  return metastores?.length === 1 ? metastores[0]?.metastore_catalog_id : undefined;
}

/** Returns the names that Spark has for the catalogs of a metastore. */
function catalogsOf(metastore: MetastoreCatalogRead): string[] {
  switch (metastore.catalog_type) {
    case 'HIVE':
      return ['spark_catalog'];
    case 'AWS GLUE':
      return ['glue'];
    case 'DATABRICKS UNITY': {
      const { additional_catalogs: more } = metastore.metastore_details;
      return [defaultCatalogOf(metastore) ?? '', ...(Array.isArray(more) ? more.map(String) : [])];
    }
  }
}
