import { Module } from '@nestjs/common';
import { CredentialsConfsController } from './credentials-confs.controller';
import { CredentialsConfsModule } from './credentials-confs.module';

@Module({ imports: [CredentialsConfsModule], controllers: [CredentialsConfsController] })
export class CredentialsConfsApiModule {}
