import { chooseConfinement, describe } from '../../../../../libs/node-agent/confinement';
import type { Confinement } from '../../../../../libs/node-agent/sandbox';
import type { Config } from '../../../../config/config';
import type { Logger } from '../../../../platform/kernel/logging/logger';

/** How this worker's machine isolates the jobs of its local nodes from itself and from each other. */
export class LocalConfinementService {
  private constructor(readonly confinement: Confinement) {}

  /** Finds out what the machine offers. */
  static async choose({ compute: { local } }: Config, logger: Logger): Promise<LocalConfinementService> {
    if (!local) return new LocalConfinementService({ kind: 'none' });
    const { sparkHomes, javaHome, classArchives, connectors, scalaKernels, turboJars, python } = local;
    const paths = [
      javaHome,
      ...[sparkHomes, classArchives, connectors, scalaKernels, turboJars].flatMap((byVersion) =>
        Object.values(byVersion),
      ),
    ];
    const { confinement, problem } = await chooseConfinement({ ...local, needed: { paths, python } });
    const service = new LocalConfinementService(confinement);
    const facts = { confinement: describe(confinement), problem };
    if (service.keepsApart) logger.info(facts, 'Jobs of local nodes are confined');
    else logger.warn(facts, 'Jobs of local nodes are not confined: local nodes serve the first tenant only');
    return service;
  }

  /** Whether different tenants may have nodes here. */
  get keepsApart(): boolean {
    return this.confinement.kind !== 'none';
  }
}
