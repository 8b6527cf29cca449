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
  neededValues,
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
import { catalogAnswer } from './browse-answers';
import type { BrowseCatalog } from './dto/browse.dto';
import type { FetchUnityCatalogs, SecretValidation, ValidateSecret, ValidationMetastore } from './dto/validation.dto';
import { CatalogStores } from './catalog-stores';
import { fromMetastore } from './metastore-errors';
import { MetastoreOpener } from './metastore-opener';
import { NamedServers } from './named-servers';
import { openStore, placeOf, storesOf } from './secret-stores';
import { probeStore, type StoreVerdict } from './store-probe';

/** Each calls a server that the caller chose. */
const VALIDATIONS = {
  code: 'METASTORE.BUSY',
  maxConcurrent: 8,
  maxQueued: 64,
  maxQueuedPerParty: 8,
  queueTimeoutMs: 10_000,
};
const VALIDATION_MS = 45_000;

/** A request names no S3 server. */
const ONLY_AMAZON: S3Servers = { of: () => AMAZON };

const NOTHING: StoreVerdict = { list: false, read: false, write: false, problems: [] };

/** What a secret is tried on. */
interface Target {
  type: CatalogTypeName | null;
  metastore: MetastoreTarget | null;
  /** URI of a directory in an object store. */
  storagePath: string | null;
  s3: S3Servers;
  /** Where the request names the servers of the metastore; null for those of a catalog, and of a cloud. */
  named: NamedServers | null;
}

/** Finds out by real calls whether secrets open what they are meant for. */
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

  /** Whoever is not ADMIN tries secrets of the tenant on its catalogs only: another server would be sent them. */
  async validateOfTenant(scope: TenantScope, principal: Principal, body: ValidateSecret): Promise<SecretValidation> {
    if (isTriedElsewhere(body) && !isTenantAdmin(principal)) {
      throw forbidden('SECRET.TRIED_ELSEWHERE', `${ELSEWHERE} Only ADMIN and PLATFORM ADMIN may try it elsewhere.`);
    }
    return this.validate(scope, principal, body, (tx, id) => this.ofTenant.reveal(tx, scope, id));
  }

  /**
   * With VIEW in the workspace of the secret, which must be active, and with MANAGE to try it on what is no catalog of
   * the tenant; values that are given belong to no workspace.
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

  /** The catalogs of a Unity server, for one who is about to choose some of them. */
  async fetchUnityCatalogs(
    scope: TenantScope,
    principal: Principal,
    { endpoint, user_secret_id: id }: FetchUnityCatalogs,
  ): Promise<BrowseCatalog[]> {
    // A secret that is not there is said first, whatever the endpoint.
    await this.ofUser.get(scope, { id });
    const named = this.namedUnity(principal, endpoint);
    const metastore = await this.transactions.read((tx) => this.ofUser.reveal(tx, scope, id));
    return this.bulkhead.run(scope.tenantId, async () => {
      try {
        const secrets = { metastore, storage: null };
        const client = this.opener.open({ kind: 'unity', endpoint }, secrets, named.outbound);
        try {
          return (await client.listCatalogs(AbortSignal.timeout(VALIDATION_MS))).map(catalogAnswer);
        } finally {
          client.close();
        }
      } catch (error) {
        throw error instanceof MetastoreError ? fromMetastore(endpoint, named.told(error)) : error;
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
    const needed = isTriedElsewhere(body) ? 'MANAGE' : 'VIEW';
    const id = await this.transactions.read((tx) => this.ofWorkspace.workspaceOf(tx, scope, secretId));
    const workspace = await this.workspaces.authorize({ ...principal, tenantId }, { id }, needed);
    if (workspace.active) return workspace;
    throw forbidden('WORKSPACE.DISABLED', `The workspace "${workspace.name}" was disabled.`);
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
      secret: id === undefined ? given(details) : await reveal(tx, id),
      target: await this.targetOf(tx, scope, principal, body.metastore),
    }));
    const tried = await this.bulkhead.run(scope.tenantId, () => this.try(secret, target));
    return {
      secret_type: secret.type,
      metastore_type: target.type,
      validation_status: tried.problems.length === 0 ? 'VALID' : 'INVALID',
      validation_message: tried.problems.length === 0 ? tried.done : tried.problems.join(' '),
      storage_access_verified: tried.list && tried.read && tried.write,
      permissions_summary: { list: tried.list, read: tried.read, write: tried.write },
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
      const named = this.named(principal, (outbound) => assertServersAllowed(files, outbound));
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
    return this.named(principal, (outbound) => assertUrlAllowed(outbound, endpoint, 'METASTORE.ENDPOINT_REFUSED'));
  }

  private named(principal: Principal, assertAllowed: (outbound: OutboundPolicy) => void): NamedServers {
    return new NamedServers(principal, this.outbound, this.logger, assertAllowed);
  }

  /** Tries all that the secret opens of the target; throws a 400 when that is nothing. */
  private async try(secret: RevealedSecret, target: Target): Promise<StoreVerdict & { done: string }> {
    const opensStores = storesOf(secret.type) !== null;
    const opened = openedBy(secret, target, opensStores);
    const signal = AbortSignal.timeout(VALIDATION_MS);
    const listed = opened ? await this.tryMetastore(opened, target.named, secret, opensStores, signal) : null;
    const path = opensStores ? target.storagePath : null;
    if (listed === null && path === null) throw unfit(secret, target);
    const store = path === null ? NOTHING : await this.tryStore(secret, path, target.s3, signal);
    return {
      ...store,
      list: store.list || (listed?.problems.length === 0 && path === null),
      problems: [...(listed?.problems ?? []), ...store.problems],
      done: [listed?.done, path === null ? null : `An object was written, read and deleted in ${path}.`]
        .filter(Boolean)
        .join(' '),
    };
  }

  private async tryMetastore(
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
        return { problems: [], done: openingSecret(target) ? listed : `${listed} It asked for no login.` };
      } finally {
        client.close();
      }
    } catch (error) {
      if (!(error instanceof MetastoreError)) throw error;
      return { problems: [(named?.told(error) ?? error).message], done: '' };
    }
  }

  private async tryStore(
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
      return { ...NOTHING, problems: [error.message] };
    }
  }
}

const ELSEWHERE = 'A secret that exists is tried on a catalog that exists: name a metastore_id.';

/** Whether a secret that exists would be sent to a server that the request names. */
function isTriedElsewhere({ secret, metastore }: ValidateSecret): boolean {
  return secret.secret_id !== undefined && metastore.metastore_details !== undefined;
}

function given(details: ValidateSecret['secret']['secret_details']): RevealedSecret {
  if (!details) throw oneOf('secret', 'secret_id', 'secret_details');
  const { secret_type: type } = details;
  return { type, values: neededValues(type, details) };
}

/** The metastore that a secret of the type opens: Unity by a token, Glue by keys, Hive by its own kinds. */
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

function oneOf(what: string, one: string, other: string): DomainError {
  return invalid('REQUEST.INVALID', `${what} needs either ${one} or ${other}.`);
}

function unfit(secret: RevealedSecret, { type, storagePath }: Target): DomainError {
  const what = type === null ? 'what the request describes' : `a metastore of type ${type}`;
  const path = storagePath === null && storesOf(secret.type) !== null ? ', and no bucket_path is known' : '';
  return invalid('SECRET.TYPE_UNFIT', `A secret of type ${secret.type} does not open ${what}${path}.`);
}
