import { Module } from '@nestjs/common';
import { GlueCatalogsController, HiveCatalogsController, UnityCatalogsController } from './catalogs-of-type.controller';
import { MetastoreCatalogsController } from './metastore-catalogs.controller';
import { MetastoreCatalogsModule } from './metastore-catalogs.module';

@Module({
  imports: [MetastoreCatalogsModule],
  controllers: [MetastoreCatalogsController, HiveCatalogsController, GlueCatalogsController, UnityCatalogsController],
})
export class MetastoreCatalogsApiModule {}
