import { Body, Controller, Query, type Type } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../platform/http/auth/request-principal';
import { ADMINS } from '../../../platform/kernel/auth/roles';
import type { Message } from '../../../platform/kernel/dto/answers';
import { declareOperation, type HandlerParameter } from '../../../platform/http/declare-operation';
import { Answers } from '../../../platform/http/operation';
import type { OperationOptions } from '../../../platform/http/operation-options';
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

/** What differs between the operations on catalogs of one type and those of another. */
interface CatalogRoutes<Create, Update, Made> {
  /** Operation ids are made with it: `createHiveCatalog`. */
  word: 'Hive' | 'Glue' | 'Unity';
  /** For summaries. */
  label: string;
  create: Type<Create>;
  update: Type<Update>;
  made: Type<Made>;
}

/** Base class of a controller that creates, changes and deletes catalogs of one type. */
function CatalogsController<
  Create extends { name: string },
  Update extends { name?: string },
  Made extends NewCatalogWrite,
>({ word, label, create, update, made }: CatalogRoutes<Create, Update, Made>) {
  abstract class CatalogsOfTypeController {
    protected constructor(private readonly service: CatalogsOfType<Create, Update, Made>) {}

    create(scope: TenantScope, body: Create): Promise<Made> {
      return this.service.make(scope, body);
    }

    update(scope: TenantScope, query: MetastoreCatalogSelector, body: Update): Promise<MetastoreCatalogWrite> {
      return this.service.update(scope, query.selector(), body);
    }

    delete(scope: TenantScope, query: MetastoreCatalogSelector): Promise<Message> {
      return this.service.delete(scope, query.selector());
    }
  }

  const scope: HandlerParameter = { decorate: CurrentScope(), type: Object };
  const selector: HandlerParameter = { decorate: Query(), type: MetastoreCatalogSelector };
  const body = (type: Type<object>): HandlerParameter => ({ decorate: Body(), type });
  const declare = (
    method: keyof CatalogsOfTypeController,
    parameters: readonly HandlerParameter[],
    operation: Pick<OperationOptions, 'method' | 'summary' | 'answer'> & Partial<OperationOptions>,
  ) =>
    declareOperation(CatalogsOfTypeController.prototype, method, [scope, ...parameters], {
      path: `/metastore/catalog/${word.toLowerCase()}`,
      id: `${method}${word}Catalog`,
      tag: 'Metastores',
      access: Allow.tenant(ADMINS),
      ...operation,
    });
  declare('create', [body(create)], {
    method: 'POST',
    summary: `Create a metastore catalog of ${label}`,
    answer: Answers.one(made),
    errors: [409],
  });
  declare('update', [selector, body(update)], {
    method: 'PUT',
    summary: `Update a metastore catalog of ${label}`,
    answer: Answers.one(MetastoreCatalogWrite),
    status: 201,
    errors: [409],
  });
  declare('delete', [selector], {
    method: 'DELETE',
    summary: `Delete a metastore catalog of ${label}`,
    answer: Answers.message,
    status: 201,
  });
  return CatalogsOfTypeController;
}

@Controller()
export class HiveCatalogsController extends CatalogsController({
  word: 'Hive',
  label: 'a Hive metastore',
  create: CreateHiveCatalog,
  update: UpdateHiveCatalog,
  made: HiveCatalogWrite,
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
  made: GlueCatalogWrite,
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
  made: UnityCatalogWrite,
}) {
  constructor(service: UnityCatalogsService) {
    super(service);
  }
}
