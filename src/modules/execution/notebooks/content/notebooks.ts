export { NotebookConfExport } from './dto/notebook-conf.dto';
export { type DocumentedNotebook, exportNotebookConf, readNotebookConf } from './notebook-conf-documents';
export type { StagedNotebook } from './notebook-staging.service';
export { notebookSelector } from './dto/notebook-conf.dto';
