export { type CatalogLocation, hiveLocation, type LockedCatalog, unusable } from './catalog-location';
export { assertServersAllowed, readHiveFiles } from './hive-files';
export {
  catalogDetails,
  catalogTypeOf,
  type MetastoreCatalogData,
  metastoreCatalogJoins,
  metastoreCatalogJson,
  metastoreCatalogRef,
  MetastoreCatalogRef,
} from './metastore-catalogs.joins';
export { MetastoreCatalogsService } from './metastore-catalogs.service';
export { AMAZON, type HadoopProperties, type S3Server, s3ServerOf, type S3Servers } from './s3-servers';
