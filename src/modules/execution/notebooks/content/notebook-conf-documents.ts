import {
  emptyDocument,
  type CellOutputs,
  type NotebookDocument,
  NotebookError,
} from '../../../../../libs/notebooks/ipynb';
import { readCells, withCells } from '../../../../../libs/notebooks/cells';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { validated } from '../../../../platform/http/validation';
import { checkConf } from '../../clusters';
import { checkPackages } from '../../../infrastructure/storage';
import { assertFiles, type RunConfiguration, settingsOf, withoutSecrets } from '../../runs';
import { languageOf, NOTEBOOK_SETTINGS, NotebookConfExport, typeOf } from './dto/notebook-conf.dto';
import { sentOutput } from './notebook-cells.service';
import { notebookPath } from './notebook-staging.service';

/** A notebook configuration in a document, with its notebook. */
export interface DocumentedNotebook {
  conf: Pick<RunConfiguration, 'name' | 'job_type' | 'language' | 'max_concurrency' | 'settings'>;
  path: string;
  notebook: { document: NotebookDocument; outputs: Map<string, CellOutputs> };
}

/** Returns the document of a notebook configuration, without values that look secret and without its cells. */
export function exportNotebookConf(
  row: Pick<RunConfiguration, 'name' | 'language' | 'max_concurrency' | 'settings'>,
  path: string,
): object {
  const settings = withoutSecrets(row.settings);
  return {
    notebook_name: row.name,
    notebook_type: typeOf(row.language),
    notebook_path: `/${path}`,
    max_concurrency: row.max_concurrency,
    ...Object.fromEntries(NOTEBOOK_SETTINGS.map((name) => [name, settings[name]])),
  };
}

/** Parses the document of a notebook configuration; throws a 400 if it is invalid. */
export async function readNotebookConf(document: unknown): Promise<DocumentedNotebook> {
  const read = await validated(NotebookConfExport, document);
  const { notebook_name: name, notebook_type, notebook_path, max_concurrency, notebook_cells: cells } = read;
  const language = languageOf(notebook_type);
  const settings = settingsOf(read);
  assertFiles(settings);
  checkConf('NOTEBOOK_CONF', settings.conf);
  checkPackages('NOTEBOOK_CONF', settings.packages);
  return {
    conf: { name, job_type: 'NOTEBOOK', language, max_concurrency, settings },
    path: notebookPath(notebook_path ?? `/${name}.ipynb`),
    notebook: notebookOf(language, cells?.cells ?? []),
  };
}

function notebookOf(language: string, cells: readonly unknown[]): DocumentedNotebook['notebook'] {
  try {
    const sent = readCells(cells);
    const outputs = new Map<string, CellOutputs>();
    for (const { cell_uuid: id, cell_type, output = [] } of sent) {
      if (cell_type !== 'code' || output.length === 0) continue;
      outputs.set(id, { outputs: output.map((one, index) => sentOutput(one, id, index)), executionCount: null });
    }
    return { document: withCells(emptyDocument(language), sent), outputs };
  } catch (error) {
    if (error instanceof NotebookError) throw invalid('NOTEBOOK_CONF.INVALID_CELLS', error.message);
    throw error;
  }
}
