import { Module } from '@nestjs/common';
import { GlueCatalogsController, HiveCatalogsController, UnityCatalogsController } from './catalogs-of-type.controller';
import { MetastoreCatalogsController } from './metastore-catalogs.controller';
import { MetastoresModule } from './metastores.module';

@Module({
  imports: [MetastoresModule],
  controllers: [MetastoreCatalogsController, HiveCatalogsController, GlueCatalogsController, UnityCatalogsController],
})
export class MetastoresApiModule {}
