import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Allow } from '../../kernel/auth/access';
import { Field } from '../../kernel/dto/fields';
import { About } from '../../kernel/dto/schemas';
import { API_RELEASE } from '../api-release';
import { Responses, Operation } from '../operation';
import { HealthService } from './health.service';

@About('Health of the API and its dependencies.')
export class HealthCheck {
  @Field.number({ description: 'Seconds since the process started' }) uptime: number;
  @Field.text({ description: 'OK, or what is wrong with the dependencies' }) message: string;
  @Field.timestamp({ description: 'When the check was made' }) date: Date;
}

@About('Version of the service.')
export class Version {
  @Field.text({ description: 'Version of the service' }) version: string;
  @Field.text({ description: "Release of the API's specification that it follows" }) api_release: string;
}

@Controller()
export class HealthController {
  constructor(private readonly health: HealthService) {}

  @Operation({
    method: 'GET',
    path: '/healthCheck',
    id: 'healthCheck',
    summary: 'Check the service and its dependencies',
    description:
      'Checks the database and the other systems that the API needs. Status 500 with the same body means that one does not respond.',
    tag: 'Probes',
    access: Allow.everyone,
    response: Responses.one(HealthCheck),
    errorResponse: HealthCheck,
  })
  async check(@Res({ passthrough: true }) response: Response): Promise<HealthCheck> {
    const { healthy, message } = await this.health.checkAll();
    response.status(healthy ? 200 : 500);
    return { uptime: process.uptime(), message, date: new Date() };
  }

  @Operation({
    method: 'GET',
    path: '/version',
    id: 'getVersion',
    summary: 'Get the version of the service and the release of the API',
    description:
      'Returns the version of the service and the release of the API that it follows. They change only with an upgrade.',
    tag: 'Probes',
    access: Allow.everyone,
    response: Responses.one(Version),
  })
  version(): Version {
    return { version: this.health.version, api_release: API_RELEASE };
  }
}
