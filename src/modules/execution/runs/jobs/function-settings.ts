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

const DEFAULT_CONCURRENCY = 4;
const MAX_CONCURRENCY = 64;
export const DEFAULT_TIMEOUT_SECONDS = 60;
const MAX_TIMEOUT_SECONDS = 3_600;
/** The example is part of every OpenAPI document of the function, so it must be small. */
export const EXAMPLE_JSON: UntrustedBounds = { ...SHORT_JSON, bytes: 1024 * 1024 };
/** The setting holds either the requirements themselves or, if it matches this, a file of the workspace with them. */
const REQUIREMENTS_FILE = /^[^\n]*\.txt$/;
const PYTHON_NAME = /^[A-Za-z_]\w{0,127}$/;

/** Throws a 400 for settings with which a function could never start. */
export function checkFunction(settings: FunctionSettings): void {
  const script = settings.platform_functions_script_path ?? '';
  if (!script.endsWith('.py')) throw invalidSetting('script_path', 'must be the path of a .py file of the workspace');
  if (!PYTHON_NAME.test(settings.platform_functions_function_name ?? '')) {
    throw invalidSetting('function_name', 'must be a valid Python function name of at most 128 characters');
  }
  projectOf(settings);
  assertAtMost(settings.platform_functions_max_request_concurrency, MAX_CONCURRENCY, 'max_request_concurrency');
  assertAtMost(settings.platform_functions_request_timeout_sec, MAX_TIMEOUT_SECONDS, 'request_timeout_sec');
  const example = settings.platform_functions_example_request_body;
  if (example === null) return;
  try {
    parseUntrusted(example, EXAMPLE_JSON);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const problem = error.fault === 'syntax' ? 'must be JSON' : `is too large. ${error.message}`;
    throw invalidSetting('example_request_body', problem);
  }
}

/** Returns the function's folder relative to the workspace, and its script relative to that folder. */
export function projectOf(settings: FunctionSettings): { folder: string; script: string } {
  const script = normalizePath((settings.platform_functions_script_path ?? '').replace(/^\/+/, ''));
  const path = (settings.platform_functions_project_path ?? '').replace(/^\/+|\/+$/g, '');
  const folder = path === '' ? script.split('/').slice(0, -1).join('/') : normalizePath(path);
  if (folder === '')
    throw invalidSetting('project_path', 'must be a folder: the script must not be at the root of the workspace');
  return { folder, script: script.startsWith(`${folder}/`) ? script.slice(folder.length + 1) : script };
}

/** Returns the file of the workspace with the requirements; null if the setting holds them itself, or there are none. */
export function requirementsFile({ platform_functions_requirements: text }: FunctionSettings): string | null {
  // Absent in configurations of releases without this setting.
  const name = (text as string | null | undefined)?.trim() ?? '';
  return REQUIREMENTS_FILE.test(name) ? name : null;
}

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

function assertAtMost(value: number | null, max: number, name: string): void {
  if (value !== null && value > max) throw invalidSetting(name, `must be at most ${max}`);
}

function invalidSetting(name: string, problem: string): Error {
  const field = toWire(`platform_functions_${name}`);
  return invalid('JOB_CONF.INVALID_FUNCTION', `${field} ${problem}.`, { field });
}
