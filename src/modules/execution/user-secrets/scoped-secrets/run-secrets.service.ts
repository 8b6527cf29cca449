import { Inject, Injectable } from '@nestjs/common';
import { SecretBoxError } from '../../../../../libs/secret-box/secret-box';
import type { RunSecrets } from '../../../../../libs/contracts/agent-protocol';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { ReferenceData, SECRET_TYPE_ID } from '../../../foundation/reference-data';
import { TenantSecretsService } from '../../../foundation/secrets';
import { MAX_SECRET_BYTES } from './dto/scoped-secret.dto';
import { type RunOwners, RunSecretsRepository, type SecretOfRun } from './run-secrets.repository';

/** Environment variables and Spark properties that a cluster sets from secrets, by the names of the secrets. */
export interface NamedSecrets {
  env: Readonly<Record<string, string>>;
  conf: Readonly<Record<string, string>>;
}

type Opened = { value: string } | { fault: string };

const TYPE = 'ENVIRONMENT VARIABLE';

/** Opens the current secrets for a run when it starts. */
@Injectable()
export class RunSecretsService {
  constructor(
    private readonly repository: RunSecretsRepository,
    private readonly referenceData: ReferenceData,
    private readonly secrets: TenantSecretsService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Returns the values of the named secrets, each of the user, else of the workspace, else of the tenant. Never log or store them. If
   * one secret is unavailable, no values are returned, and the fault names it.
   */
  async forRun(tx: Tx, owners: RunOwners, named: NamedSecrets): Promise<RunSecrets> {
    const names = [...new Set([...Object.values(named.env), ...Object.values(named.conf)])];
    const found = await this.repository.nearest(tx, owners, names, SECRET_TYPE_ID[TYPE]);
    const opened = new Map(found.map((row) => [row.name, this.open(owners, row)]));
    const faults: string[] = [];
    const values = (label: string, entries: Readonly<Record<string, string>>): Record<string, string> =>
      Object.fromEntries(
        Object.entries(entries).flatMap(([target, name]): [string, string][] => {
          const secret = opened.get(name) ?? { fault: 'it was not read' };
          if ('value' in secret) return [[target, secret.value]];
          faults.push(`The ${label} ${target} cannot be set from the secret "${name}": ${secret.fault}.`);
          return [];
        }),
      );
    const env = values('environment variable', named.env);
    const conf = values('Spark property', named.conf);
    const bytes = [env, conf].flatMap(Object.values<string>).reduce((sum, value) => sum + Buffer.byteLength(value), 0);
    if (bytes > MAX_SECRET_BYTES) {
      faults.push(`The secrets of a run may have at most ${MAX_SECRET_BYTES} bytes together; these have ${bytes}.`);
    }
    if (faults.length === 0) return { env, conf };
    return { env: {}, conf: {}, fault: shortened(faults) };
  }

  private open({ tenantId, workspaceId, userId }: RunOwners, row: SecretOfRun): Opened {
    const { scope, id, sealed, wrapped_key: wrapped } = row;
    if (scope === null)
      return {
        fault: 'neither the user who runs the job, nor its workspace, nor its tenant has a secret of that name',
      };
    if (sealed === null) {
      const { name } = requireRecord(
        this.referenceData.secretType(row.secret_type_id),
        'secret type',
        row.secret_type_id,
      );
      return { fault: `the secret of the ${scope} is of type ${name} instead of ${TYPE}` };
    }
    const place = { user: `${userId ?? 0}/${id}`, workspace: `${workspaceId}/${id}`, tenant: id } as const;
    try {
      const values = this.secrets.openWith(wrapped, tenantId, `${scope}_secrets`, place[scope], sealed);
      return { value: (values as { value: string }).value };
    } catch (error) {
      if (!(error instanceof SecretBoxError || error instanceof DomainError)) throw error;
      this.logger.error(
        { err: error, secret_scope: scope, secret_id: id },
        'A secret cannot be decrypted; runs that use it fail until its value is sent again',
      );
      return { fault: `the secret of the ${scope} cannot be decrypted; send its value again` };
    }
  }
}

const MAX_FAULTS = 5;

function shortened(faults: readonly string[]): string {
  const more = faults.length - MAX_FAULTS;
  return [...faults.slice(0, MAX_FAULTS), ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
}
