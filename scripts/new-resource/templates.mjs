/**
 * Spellings of a resource's name, with `git-credentials` as the example.
 * @typedef {object} Names
 * @property {string} one `GitCredential`
 * @property {string} many `GitCredentials`
 * @property {string} kind `git_credential`
 * @property {string} table `git_credentials`
 * @property {string} file `git-credential`
 * @property {string} files `git-credentials`
 * @property {string} label `git credential`
 * @property {string} labels `git credentials`
 */

/** @param {Names} names @returns {string} */
const entity = ({ one, kind, table, label }) => `import { Entity, Index, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '~columns';
import { RecordKind } from '~record-kind';

@Entity('${table}')
@Unique('uq_${table}_tenant_id', ['tenant_id', '${kind}_id'])
@Index('uq_${table}_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_${table}_list', ['tenant_id', '${kind}_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_${table}_name_part', 'name', { where: CURRENT })
@RecordKind({ code: '${kind.toUpperCase()}', label: '${label}' })
export class ${one} extends TenantColumns {
  @Col.identity('pk_${table}') ${kind}_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
}
`;

/** @param {Names} names @returns {string} */
const dto = ({ one, kind, file, label }) => `import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '~response-fields';
import { Field, Param } from '~fields';
import { About, Example, FieldsMean } from '~schemas';
import { PageOrAllQuery } from '~page';
import { RecordSelectorQuery } from '~selector';

export class ${one}Selector extends RecordSelectorQuery('${kind}') {}

export class ${one}ListQuery extends PageOrAllQuery {}

export class ${one}SearchQuery extends ${one}ListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) ${kind}_name: string;
}

@About('A new ${label}.')
@Example({ name: 'example-${file}' })
export class Create${one} {
  @Field.name() name: string;
  @Field.description() description?: string | null;
}

@About('Changes to a ${label}; at least one. Absent fields keep their values.')
@Example({ description: 'Changed by an example' })
export class Update${one} {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
}

/** Fields that every answer has, as the row has them. */
export class ${one}Fields {
  @Field.text({ description: 'Name of the ${label}, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.uuid() tenant_id: string;
}

@About('A ${label}.')
@FieldsMean({ ${kind}_id: 'Id of the ${label}' })
export class ${one}Read extends IntersectionType(${one}Fields, ReadAudit) {
  @Field.id() ${kind}_id: number;
}

@About('A ${label} as returned by a write. Its id is a decimal string.')
@FieldsMean({ ${kind}_id: 'Id of the ${label}' })
export class ${one}Write extends IntersectionType(${one}Fields, WriteAudit) {
  @Field.idText() ${kind}_id: string;
}
`;

/** @param {Names} names @returns {string} */
const repository = ({ one, many, file }) => `import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ResourceRepository } from '~resource-repository';
import { ${one} } from './entities/${file}.entity';

@Injectable()
export class ${many}Repository extends ResourceRepository<${one}> {
  constructor(dataSource: DataSource) {
    super(dataSource, { entity: ${one} });
  }
}
`;

/** @param {Names} names @returns {string} */
const service = ({ one, many, kind, file, files }) => `import { Injectable } from '@nestjs/common';
import type { TenantScope } from '~principal';
import { type AuthorNames, fieldsOf, idText, readAudit, writeAudit } from '~response-fields';
import type { Tx, Values } from '~sql';
import { Transactions } from '~transactions';
import { References } from '~references';
import type { ResourceFilter } from '~resource-repository';
import { ResourceService } from '~resource-service';
import {
  type Create${one},
  ${one}Fields,
  type ${one}ListQuery,
  type ${one}Read,
  type ${one}Write,
  type Update${one},
} from './dto/${file}.dto';
import { ${one} } from './entities/${file}.entity';
import { ${many}Repository } from './${files}.repository';

type ${one}Row = ${one} & AuthorNames;

@Injectable()
export class ${many}Service extends ResourceService<{
  entity: ${one};
  row: ${one}Row;
  create: Create${one};
  update: Update${one};
  read: ${one}Read;
  write: ${one}Write;
  listQuery: ${one}ListQuery;
}> {
  constructor(
    transactions: Transactions,
    repository: ${many}Repository,
    private readonly references: References,
  ) {
    super(transactions, repository);
  }

  protected filter(): ResourceFilter<${one}> {
    return () => undefined;
  }

  protected async columnsOfNew(_scope: TenantScope, body: Create${one}): Promise<Values<${one}>> {
    return { ...body };
  }

  protected async columnsOfChanged(
    _scope: TenantScope,
    _row: ${one}Row,
    body: Update${one},
  ): Promise<Values<${one}>> {
    return { ...body };
  }

  protected async assertDeletable(scope: TenantScope, row: ${one}Row, tx: Tx): Promise<void> {
    await this.references.assertUnused(tx, scope.tenantId, ${one}, row.${kind}_id);
  }

  protected read(row: ${one}Row): ${one}Read {
    return { ${kind}_id: row.${kind}_id, ...fieldsOf(${one}Fields, row), ...readAudit(row) };
  }

  protected write(row: ${one}Row): ${one}Write {
    return { ${kind}_id: idText(row.${kind}_id), ...fieldsOf(${one}Fields, row), ...writeAudit(row) };
  }
}
`;

/** @param {Names} names @returns {string} */
const controller = ({ one, many, kind, file, files, label, labels }) => `import { Controller } from '@nestjs/common';
import { Allow } from '~access';
import { ADMINS } from '~roles';
import { ResourceController } from '~resource-controller';
import {
  Create${one},
  ${one}ListQuery,
  ${one}Read,
  ${one}SearchQuery,
  ${one}Selector,
  ${one}Write,
  Update${one},
} from './dto/${file}.dto';
import { ${many}Service } from './${files}.service';

@Controller()
export class ${many}Controller extends ResourceController({
  one: '${one}',
  many: '${many}',
  label: '${label}',
  labels: '${labels}',
  tag: 'Infrastructure',
  path: '/${file}',
  listPath: '/${files}',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(ADMINS),
  selector: ${one}Selector,
  listQuery: ${one}ListQuery,
  searchQuery: ${one}SearchQuery,
  partOfName: (query: ${one}SearchQuery) => query.${kind}_name,
  create: Create${one},
  update: Update${one},
  read: ${one}Read,
  write: ${one}Write,
}) {
  constructor(service: ${many}Service) {
    super(service);
  }
}
`;

/** @param {Names} names @returns {string} */
const sample = ({ one, kind, file, table }) => `import type { Create${one}, Update${one} } from './dto/${file}.dto';
import type { ${one} } from './entities/${file}.entity';
import { sample } from '~sample';

export const ${camelCase(kind)} = sample<Create${one}, Update${one}, ${one}>({
  path: '/${file}',
${table === `${kind}s` ? '' : `  table: '${table}',\n`}  body: () => ({}),
  change: { description: 'changed' },
});
`;

/** @param {string} kind */
function camelCase(kind) {
  return kind.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

/**
 * Returns the files of a resource: `.` stands for its folder, `~` for that of the samples. An import of `~name` means the source
 * with that name, wherever it is.
 * @param {Names} names
 * @returns {Record<string, string>}
 */
export function filesOf(names) {
  const { file, files } = names;
  return {
    [`./entities/${file}.entity.ts`]: entity(names),
    [`./dto/${file}.dto.ts`]: dto(names),
    [`./${files}.repository.ts`]: repository(names),
    [`./${files}.service.ts`]: service(names),
    [`./${files}.controller.ts`]: controller(names),
    [`~/${file}.ts`]: sample(names),
  };
}
