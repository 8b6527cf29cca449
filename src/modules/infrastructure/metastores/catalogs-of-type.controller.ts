import { Controller, Query, type Type } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../platform/http/auth/request-principal';
import { ADMINS } from '../../../platform/kernel/auth/roles';
import type { Message } from '../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../platform/http/operation';
import { BodyOf } from '../../../platform/http/parameters';
import type { CatalogsOfType } from './catalogs-of-type';
import {
  CreateGlueCatalog,
  CreateHiveCatalog,
  CreateUnityCatalog,
  GlueCatalogWrite,
  HiveCatalogWrite,
  MetastoreCatalogSelector,
  MetastoreCatalogWrite,
  type NewCatalogWrite,
  UnityCatalogWrite,
  UpdateGlueCatalog,
  UpdateHiveCatalog,
  UpdateUnityCatalog,
} from './dto/metastore-catalog.dto';
import { GlueCatalogsService } from './glue-catalogs.service';
import { HiveCatalogsService } from './hive-catalogs.service';
import { UnityCatalogsService } from './unity-catalogs.service';

const USERS_DOWN = 'Every cluster that uses it must be DESTROYED or in ERROR.';

interface CatalogRoutes<Create, Update, Created> {
  /** Part of the operation ids, for example `createHiveCatalog`. */
  word: 'Hive' | 'Glue' | 'Unity';
  label: string;
  create: Type<Create>;
  update: Type<Update>;
  created: Type<Created>;
}

/** Returns a base controller that creates, updates and deletes catalogs of one type. */
function CatalogsController<
  Create extends { name: string },
  Update extends { name?: string },
  Created extends NewCatalogWrite,
>({ word, label, create, update, created }: CatalogRoutes<Create, Update, Created>) {
  const shared = { path: `/metastore/catalog/${word.toLowerCase()}`, tag: 'Metastores', access: Allow.tenant(ADMINS) };

  abstract class CatalogsOfTypeController {
    protected constructor(private readonly service: CatalogsOfType<Create, Update, Created>) {}

    @Operation({
      ...shared,
      method: 'POST',
      id: `create${word}Catalog`,
      summary: `Create a metastore catalog of ${label}`,
      description: `Stores how to reach ${label}. It is not called yet; the secrets for it are attached separately. A name that is already in use is refused with 409.`,
      response: Responses.one(created),
      errors: [409],
    })
    create(@CurrentScope() scope: TenantScope, @BodyOf(create) body: Create): Promise<Created> {
      return this.service.createCatalog(scope, body);
    }

    @Operation({
      ...shared,
      method: 'PUT',
      id: `update${word}Catalog`,
      summary: `Update a metastore catalog of ${label}`,
      description: `Changes the fields that are sent, at least one. ${USERS_DOWN}`,
      response: Responses.one(MetastoreCatalogWrite),
      status: 201,
      errors: [409],
    })
    update(
      @CurrentScope() scope: TenantScope,
      @Query() query: MetastoreCatalogSelector,
      @BodyOf(update) body: Update,
    ): Promise<MetastoreCatalogWrite> {
      return this.service.update(scope, query.selector(), body);
    }

    @Operation({
      ...shared,
      method: 'DELETE',
      id: `delete${word}Catalog`,
      summary: `Delete a metastore catalog of ${label}`,
      description: `Ends the record and its attachments of secrets. The metastore itself keeps its tables. ${USERS_DOWN}`,
      response: Responses.message,
      status: 201,
    })
    delete(@CurrentScope() scope: TenantScope, @Query() query: MetastoreCatalogSelector): Promise<Message> {
      return this.service.delete(scope, query.selector());
    }
  }
  return CatalogsOfTypeController;
}

@Controller()
export class HiveCatalogsController extends CatalogsController({
  word: 'Hive',
  label: 'a Hive metastore',
  create: CreateHiveCatalog,
  update: UpdateHiveCatalog,
  created: HiveCatalogWrite,
}) {
  constructor(service: HiveCatalogsService) {
    super(service);
  }
}

@Controller()
export class GlueCatalogsController extends CatalogsController({
  word: 'Glue',
  label: 'AWS Glue',
  create: CreateGlueCatalog,
  update: UpdateGlueCatalog,
  created: GlueCatalogWrite,
}) {
  constructor(service: GlueCatalogsService) {
    super(service);
  }
}

@Controller()
export class UnityCatalogsController extends CatalogsController({
  word: 'Unity',
  label: 'Unity Catalog',
  create: CreateUnityCatalog,
  update: UpdateUnityCatalog,
  created: UnityCatalogWrite,
}) {
  constructor(service: UnityCatalogsService) {
    super(service);
  }
}
