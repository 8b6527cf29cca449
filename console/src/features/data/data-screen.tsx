import { ActionIcon, Tooltip } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { MetastoreCatalogRead, WorkspaceRead } from 'managed-spark/types';
import { type ReactNode, useCallback, useEffect } from 'react';
import { defaultCatalogOf, metastoresQuery, type Place } from '../../shared/catalogs';
import { ChoiceFilter } from '../../shared/choice-filter';
import { CopyAs } from '../../shared/copy-as';
import { dataTexts as t } from '../../shared/data-texts';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import list from '../../shared/list-screen.module.css';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { workspacesQuery } from '../../shared/records';
import { callOf, catalogsQuery, refresh } from './data-api';
import styles from './data-screen.module.css';
import { type DataSearch, readDataSearch } from './data-search';
import { SchemaList } from './schema-list';
import { TableList } from './table-list';
import { TablePanel } from './table-panel';

export function DataScreen(): ReactNode {
  const { data: workspaces, error: noWorkspaces } = useQuery(workspacesQuery('enabled'));
  const { data: metastores, error: noMetastores } = useQuery(metastoresQuery);
  const error = noWorkspaces ?? noMetastores;
  if (error) {
    return (
      <Page title={t.title}>
        <ProblemPanel error={error} />
      </Page>
    );
  }
  if (!workspaces || !metastores) return null;
  if (workspaces.length > 0 && metastores.length > 0)
    return <Catalogs workspaces={workspaces} metastores={metastores} />;
  const [title, hint] = metastores.length > 0 ? [t.noWorkspace, t.noWorkspaceHint] : [t.noMetastore, t.noMetastoreHint];
  return (
    <Page title={t.title}>
      <EmptyState icon="data" title={title} hint={hint} />
    </Page>
  );
}

interface CatalogsProps {
  workspaces: readonly WorkspaceRead[];
  metastores: readonly MetastoreCatalogRead[];
}

function Catalogs({ workspaces, metastores }: CatalogsProps): ReactNode {
  const search = useSearch({ from: '/data' });
  const navigate = useNavigate({ from: '/data' });
  const change = useCallback(
    (part: DataSearch) => void navigate({ search: (before) => readDataSearch({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const workspaceId = search.workspace ?? workspaces[0]?.workspace_id ?? 0;
  const metastore = metastores.find(({ metastore_catalog_id: id }) => id === search.metastore) ?? metastores[0];
  const metastoreId = metastore?.metastore_catalog_id;
  useEffect(() => {
    // The address says which secrets opened which catalog, so that it can be passed on.
    if (search.workspace !== workspaceId || search.metastore !== metastoreId) {
      change({ workspace: workspaceId, metastore: metastoreId });
    }
  }, [search.workspace, search.metastore, workspaceId, metastoreId, change]);
  if (!metastore) return null;
  const place = {
    workspaceId,
    metastoreId: metastore.metastore_catalog_id,
    catalog: search.catalog ?? defaultCatalogOf(metastore),
  };
  return (
    <Page
      title={search.table ?? t.title}
      trail={<Trail search={search} metastore={metastore.name} />}
      actions={<CopyAs call={callOf(place, search.schema, search.table)} />}
      fill
    >
      <div className={list['filters']}>
        <ChoiceFilter
          label={t.metastore}
          icon="data"
          options={metastores.map(({ metastore_catalog_id: value, name: label }) => ({ value, label }))}
          selected={place.metastoreId}
          onChange={(id) => change({ ...NOWHERE, metastore: id ?? undefined })}
        />
        {metastore.catalog_type === 'DATABRICKS UNITY' && (
          <CatalogChoice place={place} onChange={(catalog) => change({ ...NOWHERE, catalog })} />
        )}
        <ChoiceFilter
          label={t.workspace}
          icon="folder"
          options={workspaces.map(({ workspace_id: value, name: label }) => ({ value, label }))}
          selected={workspaceId}
          onChange={(id) => change({ workspace: id ?? undefined, server: undefined })}
        />
        <Refresh place={place} schema={search.schema} />
      </div>
      <div className={styles['panes']}>
        <SchemaList
          place={place}
          selected={search.schema}
          onChange={(schema) => change({ schema, table: undefined, q: undefined, tab: undefined })}
        />
        <section className={styles['main']} aria-label={search.table ?? search.schema ?? t.tables}>
          <Chosen place={place} search={search} change={change} />
        </section>
      </div>
    </Page>
  );
}

interface ChosenProps {
  place: Place;
  search: DataSearch;
  change: (part: DataSearch) => void;
}

/** The table, or else the schema, that the address names. */
function Chosen({ place, search: { schema, table, q, tab, server }, change }: ChosenProps): ReactNode {
  if (schema === undefined) return <EmptyState icon="data" title={t.chooseSchema} hint={t.chooseSchemaHint} />;
  if (table === undefined) {
    return <TableList key={schema} place={place} schema={schema} q={q} onSearch={(text) => change({ q: text })} />;
  }
  const of = { ...place, schema, table };
  return <TablePanel key={`${schema} ${table}`} of={of} tab={tab ?? 'columns'} server={server} onChange={change} />;
}

/** The choices that another catalog does not have. */
const NOWHERE: DataSearch = {
  catalog: undefined,
  schema: undefined,
  table: undefined,
  q: undefined,
  tab: undefined,
  server: undefined,
};

function Trail({ search, metastore }: { search: DataSearch; metastore: string }): ReactNode {
  const { schema, table } = search;
  if (table === undefined) return null;
  return (
    <>
      <Link to="/data" search={{ ...search, schema: undefined, table: undefined }}>
        {[metastore, search.catalog].filter(Boolean).join(' · ')}
      </Link>
      <Icon name="chevronRight" size={12} />
      <Link to="/data" search={{ ...search, table: undefined, tab: undefined }}>
        {schema}
      </Link>
    </>
  );
}

interface CatalogChoiceProps {
  place: Place;
  onChange: (catalog: string) => void;
}

function CatalogChoice({ place, onChange }: CatalogChoiceProps): ReactNode {
  const { data: catalogs = [] } = useQuery(catalogsQuery({ ...place, catalog: undefined }));
  return (
    <ChoiceFilter
      label={t.catalog}
      options={catalogs.map(({ name }) => ({ value: name, label: name }))}
      selected={place.catalog ?? null}
      onChange={(name) => name !== null && onChange(name)}
    />
  );
}

function Refresh({ place, schema }: { place: Place; schema: string | undefined }): ReactNode {
  const queries = useQueryClient();
  const reading = useMutation({
    mutationFn: async () => {
      await refresh(place, schema);
      await queries.invalidateQueries({ queryKey: ['data'] });
    },
  });
  return (
    <Tooltip label={t.refresh}>
      <ActionIcon
        variant="default"
        size={30}
        aria-label={t.refresh}
        loading={reading.isPending}
        onClick={() => reading.mutate()}
      >
        <Icon name="again" size={15} />
      </ActionIcon>
    </Tooltip>
  );
}
