import { ConfigurationFileError, type HostPort } from '../../../../libs/metastore-clients/configuration-file';
import { type HiveSite, parseHiveSite } from '../../../../libs/metastore-clients/hive-site';
import { type Krb5Conf, parseKrb5Conf } from '../../../../libs/metastore-clients/krb5-conf';
import type { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { invalid } from '../../../platform/kernel/errors/domain-error';
import { assertHostAllowed } from '../../../platform/kernel/outbound/allowed-url';
import type { HiveFile } from './entities/metastore-catalog.entity';

/** The texts of a Hive catalog's files, as they are sealed. */
export type HiveFiles = Partial<Record<HiveFile, string>> & { hiveSiteXml: string };

/** What the files of a Hive catalog say. */
export interface HiveConfiguration {
  site: HiveSite;
  krb5: Krb5Conf | null;
}

/** Reads the files; throws a 400 that names the file which is refused, and the reason. */
export function readHiveFiles(files: HiveFiles): HiveConfiguration {
  try {
    return { site: parseHiveSite(files), krb5: files.krb5Conf === undefined ? null : parseKrb5Conf(files.krb5Conf) };
  } catch (error) {
    if (!(error instanceof ConfigurationFileError)) throw error;
    throw invalid('METASTORE_CATALOG.INVALID_FILE', `${error.message}`, { file: error.file });
  }
}

/** Throws a 400 for a metastore or KDC that may not be called, as far as that can be told without resolving names. */
export function assertServersAllowed({ site, krb5 }: HiveConfiguration, outbound: OutboundPolicy): void {
  const ofRealms = krb5?.realms.flatMap(({ kdcs, adminServers }): HostPort[] => [...kdcs, ...adminServers]) ?? [];
  for (const { host } of [...site.uris, ...ofRealms]) {
    assertHostAllowed(outbound, host, 'METASTORE_CATALOG.ENDPOINT_REFUSED');
  }
}
