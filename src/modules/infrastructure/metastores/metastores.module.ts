import { Module } from '@nestjs/common';
import { ReferenceDataModule } from '../../foundation/reference-data/reference-data.module';
import { SecretsModule } from '../../foundation/secrets/secrets.module';
import { GlueCatalogsService } from './glue-catalogs.service';
import { HiveCatalogsService } from './hive-catalogs.service';
import { MetastoreCatalogsRepository } from './metastore-catalogs.repository';
import { MetastoreCatalogsService } from './metastore-catalogs.service';
import { UnityCatalogsService } from './unity-catalogs.service';

@Module({
  imports: [ReferenceDataModule, SecretsModule],
  providers: [
    MetastoreCatalogsService,
    HiveCatalogsService,
    GlueCatalogsService,
    UnityCatalogsService,
    MetastoreCatalogsRepository,
  ],
  exports: [MetastoreCatalogsService, HiveCatalogsService, GlueCatalogsService, UnityCatalogsService],
})
export class MetastoresModule {}
