import { ConfigurationFileError, type HostPort } from '../../../../libs/metastore-clients/configuration-file';
import { type HiveSite, parseHiveSite } from '../../../../libs/metastore-clients/hive-site';
import { type Krb5Conf, parseKrb5Conf } from '../../../../libs/metastore-clients/krb5-conf';
import type { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { invalid } from '../../../platform/kernel/errors/domain-error';
import { assertHostAllowed } from '../../../platform/kernel/outbound/allowed-url';
import type { HiveFile } from './entities/metastore-catalog.entity';

/** The contents of a Hive catalog's files, as they are sealed. */
export type HiveFiles = Partial<Record<HiveFile, string>> & { hiveSiteXml: string };

export interface HiveConfiguration {
  site: HiveSite;
  krb5: Krb5Conf | null;
}

/** Parses the files. Throws 400 with the invalid file and the reason. */
export function readHiveFiles(files: HiveFiles): HiveConfiguration {
  try {
    return { site: parseHiveSite(files), krb5: files.krb5Conf === undefined ? null : parseKrb5Conf(files.krb5Conf) };
  } catch (error) {
    if (!(error instanceof ConfigurationFileError)) throw error;
    throw invalid('METASTORE_CATALOG.INVALID_FILE', `${error.message}`, { file: error.file });
  }
}

/** Throws 400 if the outbound policy does not allow a metastore or KDC. Host names are not resolved. */
export function assertServersAllowed({ site, krb5 }: HiveConfiguration, outbound: OutboundPolicy): void {
  const realmServers = krb5?.realms.flatMap(({ kdcs, adminServers }): HostPort[] => [...kdcs, ...adminServers]) ?? [];
  for (const { host } of [...site.uris, ...realmServers]) {
    assertHostAllowed(outbound, host, 'METASTORE_CATALOG.ENDPOINT_REFUSED');
  }
}
