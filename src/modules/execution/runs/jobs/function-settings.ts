import type { FunctionOfRun, RunFile } from '../../../../../libs/contracts/agent-protocol';
import { JsonError, parseUntrusted, SHORT_JSON, type UntrustedBounds } from '../../../../../libs/json/parse-json';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { normalizePath } from '../../../../platform/kernel/files/file-path';
import { toWire } from '../../../../platform/kernel/product/product-name';
import type { JobSettings } from './dto/job-conf.dto';

type FunctionSettings = Pick<
  Required<JobSettings>,
  | 'platform_functions_project_path'
  | 'platform_functions_script_path'
  | 'platform_functions_function_name'
  | 'platform_functions_requirements'
  | 'platform_functions_max_request_concurrency'
  | 'platform_functions_request_timeout_sec'
  | 'platform_functions_idle_timeout_sec'
  | 'platform_functions_example_request_body'
>;

/** Where a setting is silent. */
const DEFAULT_CONCURRENCY = 4;
const MAX_CONCURRENCY = 64;
export const DEFAULT_TIMEOUT_SECONDS = 60;
const MAX_TIMEOUT_SECONDS = 3_600;
/** The example is part of every description of the function, so it must be small. */
export const EXAMPLE_JSON: UntrustedBounds = { ...SHORT_JSON, bytes: 1024 * 1024 };
/** A file of the workspace with the requirements, rather than the requirements themselves. */
const REQUIREMENTS_FILE = /^[^\n]*\.txt$/;
const PYTHON_NAME = /^[A-Za-z_]\w{0,127}$/;

/** Throws a 400 for settings of a function that can never run. */
export function checkFunction(settings: FunctionSettings): void {
  const script = settings.platform_functions_script_path ?? '';
  if (!script.endsWith('.py')) throw refused('script_path', 'must name a .py file of the workspace');
  if (!PYTHON_NAME.test(settings.platform_functions_function_name ?? '')) {
    throw refused('function_name', 'must be a name of Python');
  }
  projectOf(settings);
  atMost(settings.platform_functions_max_request_concurrency, MAX_CONCURRENCY, 'max_request_concurrency');
  atMost(settings.platform_functions_request_timeout_sec, MAX_TIMEOUT_SECONDS, 'request_timeout_sec');
  const example = settings.platform_functions_example_request_body;
  if (example === null) return;
  try {
    parseUntrusted(example, EXAMPLE_JSON);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const why = error.fault === 'syntax' ? 'must be JSON' : `is too large. ${error.message}`;
    throw refused('example_request_body', why);
  }
}

/** The folder of a function, from the root of the workspace, and its script from there. */
export function projectOf(settings: FunctionSettings): { folder: string; script: string } {
  const script = normalizePath((settings.platform_functions_script_path ?? '').replace(/^\/+/, ''));
  const given = (settings.platform_functions_project_path ?? '').replace(/^\/+|\/+$/g, '');
  const folder = given === '' ? script.split('/').slice(0, -1).join('/') : normalizePath(given);
  if (folder === '') throw refused('project_path', 'must name a folder: the script may not lie at the root');
  return { folder, script: script.startsWith(`${folder}/`) ? script.slice(folder.length + 1) : script };
}

/** The file of the workspace that has the requirements; null when they are in the setting itself, or there are none. */
export function requirementsFile({ platform_functions_requirements: text }: FunctionSettings): string | null {
  // Absent in configurations of releases that had none.
  const name = (text as string | null | undefined)?.trim() ?? '';
  return REQUIREMENTS_FILE.test(name) ? name : null;
}

/** What the node needs of a function besides its files. */
export function functionOfRun(
  settings: FunctionSettings,
  files: { project: RunFile; requirements: RunFile | null },
): FunctionOfRun {
  const text = settings.platform_functions_requirements;
  return {
    project: files.project,
    script: projectOf(settings).script,
    name: settings.platform_functions_function_name ?? '',
    requirements_file: files.requirements,
    requirements: files.requirements === null && text?.trim() ? text : null,
    max_request_concurrency: settings.platform_functions_max_request_concurrency ?? DEFAULT_CONCURRENCY,
    idle_timeout_sec: settings.platform_functions_idle_timeout_sec,
  };
}

function atMost(value: number | null, most: number, name: string): void {
  if (value !== null && value > most) throw refused(name, `is at most ${most}`);
}

function refused(name: string, what: string): Error {
  const field = toWire(`platform_functions_${name}`);
  return invalid('JOB_CONF.INVALID_FUNCTION', `${field} ${what}.`, { field });
}
