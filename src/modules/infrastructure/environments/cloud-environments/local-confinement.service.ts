import { chooseConfinement, describe } from '../../../../../libs/node-agent/confinement';
import type { Confinement } from '../../../../../libs/node-agent/sandbox';
import type { Config } from '../../../../config/config';
import type { Logger } from '../../../../platform/kernel/logging/logger';

/** Holds how this worker isolates the jobs of its local nodes from the machine and from each other. */
export class LocalConfinementService {
  private constructor(readonly confinement: Confinement) {}

  /** Picks the strongest confinement that the machine supports. */
  static async choose({ compute: { local } }: Config, logger: Logger): Promise<LocalConfinementService> {
    if (!local) return new LocalConfinementService({ kind: 'none' });
    const { sparks, javaHome, python } = local;
    const paths = [
      javaHome,
      ...Object.values(sparks).flatMap(({ home, classArchive, connectors, scalaKernel, turbo }) => [
        home,
        ...[classArchive, connectors, scalaKernel, turbo].filter((path) => path !== null),
      ]),
    ];
    const { confinement, problem } = await chooseConfinement({ ...local, needed: { paths, python } });
    const service = new LocalConfinementService(confinement);
    const facts = { confinement: describe(confinement), problem };
    if (service.isolatesTenants) logger.info(facts, 'Jobs of local nodes are confined');
    else logger.warn(facts, 'Jobs of local nodes are not confined, so only the first tenant can use local nodes');
    return service;
  }

  /** True if different tenants may have nodes here. */
  get isolatesTenants(): boolean {
    return this.confinement.kind !== 'none';
  }
}
