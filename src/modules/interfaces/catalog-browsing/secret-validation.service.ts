import { Inject, Injectable } from '@nestjs/common';
import { MetastoreError } from '../../../../libs/metastore-clients/metastore-client';
import type { MetastoreTarget } from '../../../../libs/metastore-clients/open-metastore';
import { ObjectStoreError } from '../../../../libs/object-storage/object-store';
import { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import {
  isTenantAdmin,
  type Principal,
  type TenantScope,
  type WorkspaceContext,
} from '../../../platform/kernel/auth/principal';
import { type DomainError, forbidden, invalid } from '../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { assertUrlAllowed } from '../../../platform/kernel/outbound/allowed-url';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import { FairBulkhead } from '../../../platform/kernel/process/fair-bulkhead';
import {
  requiredValues,
  OPENING_SECRETS,
  openingSecret,
  type RevealedSecret,
  SecretsOfTenantService,
  SecretsOfUserService,
  SecretsOfWorkspaceService,
} from '../../execution/user-secrets';
import {
  AMAZON,
  assertServersAllowed,
  hiveLocation,
  MetastoreCatalogsService,
  readHiveFiles,
  type S3Servers,
} from '../../infrastructure/metastores';
import type { CatalogTypeName } from '../../foundation/reference-data';
import { WorkspacesService } from '../../execution/workspaces';
import { catalogResponse } from './browse-responses';
import type { BrowseCatalog } from './dto/browse.dto';
import type { FetchUnityCatalogs, SecretValidation, ValidateSecret, ValidationMetastore } from './dto/validation.dto';
import { CatalogStores } from './catalog-stores';
import { fromMetastore } from './metastore-errors';
import { MetastoreOpener } from './metastore-opener';
import { NamedServers } from './named-servers';
import { openStore, placeOf, storesOf } from './secret-stores';
import { probeStore, type StoreVerdict } from './store-probe';

/** Limits of validations, because each calls servers that the caller has chosen. */
const VALIDATIONS = {
  code: 'METASTORE.BUSY',
  maxConcurrent: 8,
  maxQueued: 64,
  maxQueuedPerParty: 8,
  queueTimeoutMs: 10_000,
};
const VALIDATION_TIMEOUT_MS = 45_000;

/** A request cannot name an S3 server. */
const ONLY_AMAZON: S3Servers = { of: () => AMAZON };

const NO_ACCESS: StoreVerdict = { list: false, read: false, write: false, problems: [] };

/** The metastore and the object store with which a secret is validated. */
interface Target {
  type: CatalogTypeName | null;
  metastore: MetastoreTarget | null;
  /** URI of a directory in an object store. */
  storagePath: string | null;
  s3: S3Servers;
  /** The servers that the request names; null for those of a catalog or a cloud. */
  named: NamedServers | null;
}

/** Validates secrets by calls to their metastores and object stores. */
@Injectable()
export class SecretValidationService {
  private readonly bulkhead = new FairBulkhead(VALIDATIONS);

  constructor(
    private readonly transactions: Transactions,
    private readonly catalogs: MetastoreCatalogsService,
    private readonly ofTenant: SecretsOfTenantService,
    private readonly ofWorkspace: SecretsOfWorkspaceService,
    private readonly ofUser: SecretsOfUserService,
    private readonly workspaces: WorkspacesService,
    private readonly stores: CatalogStores,
    private readonly opener: MetastoreOpener,
    private readonly outbound: OutboundPolicy,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Only administrators may send secrets of the tenant to other servers than those of its catalogs. */
  async validateOfTenant(scope: TenantScope, principal: Principal, body: ValidateSecret): Promise<SecretValidation> {
    if (isSentElsewhere(body) && !isTenantAdmin(principal)) {
      throw forbidden(
        'SECRET.TRIED_ELSEWHERE',
        `${ELSEWHERE} Only ADMIN and PLATFORM ADMIN may test it on another server.`,
      );
    }
    return this.validate(scope, principal, body, (tx, id) => this.ofTenant.reveal(tx, scope, id));
  }

  /**
   * Requires VIEW on the secret's workspace, which must be active, or MANAGE to send the secret to other servers than those of the
   * tenant's catalogs. Values in the request belong to no workspace.
   */
  async validateOfWorkspace(scope: TenantScope, principal: Principal, body: ValidateSecret): Promise<SecretValidation> {
    const id = body.secret.secret_id;
    const place = id === undefined ? null : { ...scope, workspace: await this.workspaceOf(scope, principal, body, id) };
    return this.validate(scope, principal, body, (tx, secretId) => {
      if (!place) throw oneOf('secret', 'secret_id', 'secret_details');
      return this.ofWorkspace.reveal(tx, place, secretId);
    });
  }

  validateOfUser(scope: TenantScope, principal: Principal, body: ValidateSecret): Promise<SecretValidation> {
    return this.validate(scope, principal, body, (tx, id) => this.ofUser.reveal(tx, scope, id));
  }

  /** Lists the catalogs of a Unity server, so that the caller can select some. */
  async fetchUnityCatalogs(
    scope: TenantScope,
    principal: Principal,
    { endpoint, user_secret_id: id }: FetchUnityCatalogs,
  ): Promise<BrowseCatalog[]> {
    // Throws the 404 of a missing secret before it checks the endpoint.
    await this.ofUser.get(scope, { id });
    const named = this.namedUnity(principal, endpoint);
    const metastore = await this.transactions.read((tx) => this.ofUser.reveal(tx, scope, id));
    return this.bulkhead.run(scope.tenantId, async () => {
      try {
        const secrets = { metastore, storage: null };
        const client = this.opener.open({ kind: 'unity', endpoint }, secrets, named.outbound);
        try {
          return (await client.listCatalogs(AbortSignal.timeout(VALIDATION_TIMEOUT_MS))).map(catalogResponse);
        } finally {
          client.close();
        }
      } catch (error) {
        throw error instanceof MetastoreError ? fromMetastore(endpoint, named.visibleError(error)) : error;
      }
    });
  }

  private async workspaceOf(
    scope: TenantScope,
    principal: Principal,
    body: ValidateSecret,
    secretId: number,
  ): Promise<WorkspaceContext> {
    const { tenantId } = scope;
    const permission = isSentElsewhere(body) ? 'MANAGE' : 'VIEW';
    const id = await this.transactions.read((tx) => this.ofWorkspace.workspaceOf(tx, scope, secretId));
    const workspace = await this.workspaces.authorize({ ...principal, tenantId }, { id }, permission);
    if (workspace.active) return workspace;
    throw forbidden('WORKSPACE.DISABLED', `The workspace "${workspace.name}" is disabled. Enable it first.`);
  }

  private async validate(
    scope: TenantScope,
    principal: Principal,
    body: ValidateSecret,
    reveal: (tx: Tx, id: number) => Promise<RevealedSecret>,
  ): Promise<SecretValidation> {
    const { secret_id: id, secret_details: details } = body.secret;
    if ((id === undefined) === (details === undefined)) throw oneOf('secret', 'secret_id', 'secret_details');
    const { secret, target } = await this.transactions.read(async (tx) => ({
      secret: id === undefined ? secretIn(details) : await reveal(tx, id),
      target: await this.targetOf(tx, scope, principal, body.metastore),
    }));
    const result = await this.bulkhead.run(scope.tenantId, () => this.test(secret, target));
    return {
      secret_type: secret.type,
      metastore_type: target.type,
      validation_status: result.problems.length === 0 ? 'VALID' : 'INVALID',
      validation_message: result.problems.length === 0 ? result.done : result.problems.join(' '),
      storage_access_verified: result.list && result.read && result.write,
      permissions_summary: { list: result.list, read: result.read, write: result.write },
      validated_at: new Date(),
    };
  }

  private async targetOf(
    tx: Tx,
    scope: TenantScope,
    principal: Principal,
    metastore: ValidationMetastore,
  ): Promise<Target> {
    const { metastore_id: id, metastore_details: details } = metastore;
    if (id !== undefined && details === undefined) {
      const place = await this.catalogs.locate(tx, scope, id);
      const { type, target, storagePath } = place;
      const s3 = await this.stores.of(tx, scope, id, place);
      return { type, metastore: target, storagePath, s3, named: null };
    }
    if (id !== undefined || details === undefined) throw oneOf('metastore', 'metastore_id', 'metastore_details');
    const { bucket_path: storagePath = null, endpoint, hiveSiteXml, krb5Conf } = details;
    if (hiveSiteXml !== undefined) {
      const files = readHiveFiles({ hiveSiteXml, ...(krb5Conf === undefined ? {} : { krb5Conf }) });
      const named = this.namedServers(principal, (outbound) => assertServersAllowed(files, outbound));
      const place = hiveLocation(files);
      return { type: 'HIVE', metastore: place.target, storagePath, s3: ONLY_AMAZON, named };
    }
    if (endpoint !== undefined) {
      const named = this.namedUnity(principal, endpoint);
      const metastoreOf = { kind: 'unity' as const, endpoint };
      return { type: 'DATABRICKS UNITY', metastore: metastoreOf, storagePath, s3: ONLY_AMAZON, named };
    }
    const type = details.metastore_type ?? null;
    const target = type === 'AWS GLUE' ? { kind: 'glue' as const, endpoint: null } : null;
    return { type, metastore: target, storagePath, s3: ONLY_AMAZON, named: null };
  }

  private namedUnity(principal: Principal, endpoint: string): NamedServers {
    return this.namedServers(principal, (outbound) =>
      assertUrlAllowed(outbound, endpoint, 'METASTORE.ENDPOINT_REFUSED'),
    );
  }

  private namedServers(principal: Principal, assertAllowed: (outbound: OutboundPolicy) => void): NamedServers {
    return new NamedServers(principal, this.outbound, this.logger, assertAllowed);
  }

  /** Tests everything in the target that the secret opens; throws a 400 if it opens nothing. */
  private async test(secret: RevealedSecret, target: Target): Promise<StoreVerdict & { done: string }> {
    const opensStores = storesOf(secret.type) !== null;
    const opened = openedBy(secret, target, opensStores);
    const signal = AbortSignal.timeout(VALIDATION_TIMEOUT_MS);
    const listed = opened ? await this.testMetastore(opened, target.named, secret, opensStores, signal) : null;
    const path = opensStores ? target.storagePath : null;
    if (listed === null && path === null) throw unfit(secret, target);
    const store = path === null ? NO_ACCESS : await this.testStore(secret, path, target.s3, signal);
    return {
      ...store,
      list: store.list || (listed?.problems.length === 0 && path === null),
      problems: [...(listed?.problems ?? []), ...store.problems],
      done: [listed?.done, path === null ? null : `An object was written, read and deleted in ${path}.`]
        .filter(Boolean)
        .join(' '),
    };
  }

  private async testMetastore(
    target: MetastoreTarget,
    named: NamedServers | null,
    secret: RevealedSecret,
    opensStores: boolean,
    signal: AbortSignal,
  ) {
    try {
      const secrets = opensStores ? { metastore: null, storage: secret } : { metastore: secret, storage: null };
      const client = this.opener.open(target, secrets, named?.outbound);
      try {
        const isUnity = target.kind === 'unity';
        const { length } = await (isUnity ? client.listCatalogs(signal) : client.listSchemas(null, signal));
        const listed = `The metastore listed ${length} ${isUnity ? 'catalogs' : 'schemas'}.`;
        return { problems: [], done: openingSecret(target) ? listed : `${listed} It required no login.` };
      } finally {
        client.close();
      }
    } catch (error) {
      if (!(error instanceof MetastoreError)) throw error;
      return { problems: [(named?.visibleError(error) ?? error).message], done: '' };
    }
  }

  private async testStore(
    secret: RevealedSecret,
    path: string,
    s3: S3Servers,
    signal: AbortSignal,
  ): Promise<StoreVerdict> {
    const place = placeOf(secret.type, path, s3);
    try {
      const store = openStore(secret, place, this.outbound);
      return await probeStore(store, place.path, signal);
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error;
      return { ...NO_ACCESS, problems: [error.message] };
    }
  }
}

const ELSEWHERE = 'An existing secret is tested with an existing catalog: name it by metastore_id.';

/** Returns true if an existing secret would be sent to a server that the request names. */
function isSentElsewhere({ secret, metastore }: ValidateSecret): boolean {
  return secret.secret_id !== undefined && metastore.metastore_details !== undefined;
}

function secretIn(details: ValidateSecret['secret']['secret_details']): RevealedSecret {
  if (!details) throw oneOf('secret', 'secret_id', 'secret_details');
  const { secret_type: type } = details;
  return { type, values: requiredValues(type, details) };
}

/** Returns the metastore of the target if the secret opens it: Unity with a token, Glue with keys, Hive with its own types. */
function openedBy(secret: RevealedSecret, target: Target, opensStores: boolean): MetastoreTarget | null {
  const { metastore } = target;
  if (metastore === null) return null;
  switch (metastore.kind) {
    case 'hive':
      return secret.type === 'HIVE BASIC' || secret.type === 'HIVE KERBEROS' ? metastore : null;
    case 'unity':
      return secret.type === OPENING_SECRETS.unity.type ? metastore : null;
    case 'glue':
      return opensStores ? metastore : null;
  }
}

function oneOf(field: string, one: string, other: string): DomainError {
  return invalid('REQUEST.INVALID', `Exactly one of ${field}.${one} and ${field}.${other} is required.`);
}

function unfit(secret: RevealedSecret, { type, storagePath }: Target): DomainError {
  const target = type === null ? 'the metastore in the request' : `a metastore of type ${type}`;
  const path = storagePath === null && storesOf(secret.type) !== null ? ', and there is no bucket_path to test' : '';
  return invalid('SECRET.TYPE_UNFIT', `A secret of type ${secret.type} does not open ${target}${path}.`);
}
