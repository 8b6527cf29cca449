import { type DomainError, invalid } from '../../../../platform/kernel/errors/domain-error';

/** Packages that jobs load, and the repositories to load them from. */
export interface Dependencies {
  packages?: readonly string[] | null;
  repositories?: readonly string[] | null;
}

/** Resource that declares the dependencies; prefix of its error codes. */
export type DependencyOwner = 'CLUSTER' | 'JOB_CONF' | 'NOTEBOOK_CONF';

const MAX_URL_LENGTH = 1024;

/** Characters that would end a URL in a list, or that URL parsers interpret differently. */
const FORBIDDEN_IN_URL = /[\s\p{Cc},\\?#]/u;

/**
 * Normalizes the URL of a repository, with a trailing slash. Returns null for an invalid URL: another scheme than http
 * or https, user info, query, fragment, comma, white space, or more than 1024 characters.
 */
export function repositoryUrl(text: string): string | null {
  if (text.length > MAX_URL_LENGTH || FORBIDDEN_IN_URL.test(text)) return null;
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') return null;
  const { href } = url;
  const normalized = href.endsWith('/') ? href : `${href}/`;
  return normalized.length > MAX_URL_LENGTH ? null : normalized;
}

/** A part of Maven coordinates. It cannot start with a dot, so that a version cannot leave its directory. */
const PART = '[A-Za-z0-9_][A-Za-z0-9_.+~-]*';
const PACKAGE = new RegExp(`^${PART}[:/]${PART}:${PART}$`);
const MAX_PACKAGE_LENGTH = 1024;

/** Throws 400 for the first package that is not valid for Spark. */
export function checkPackages(owner: DependencyOwner, packages: Dependencies['packages']): void {
  for (const text of packages ?? []) {
    if (text.length <= MAX_PACKAGE_LENGTH && PACKAGE.test(text)) continue;
    throw invalid(`${owner}.INVALID_PACKAGE`, `The package "${text}" must have the form group:artifact:version.`, {
      package: text,
    });
  }
}

/**
 * Throws 400 for the first repository that is not allowed. `allowed` holds URLs normalized by {@link repositoryUrl}.
 */
export function checkRepositories(
  owner: DependencyOwner,
  repositories: Dependencies['repositories'],
  allowed: ReadonlySet<string>,
): void {
  const repository = firstNotAllowed(repositories ?? [], allowed);
  if (repository !== undefined) throw notAllowed(invalid, owner, repository);
}

export function firstNotAllowed(repositories: readonly string[], allowed: ReadonlySet<string>): string | undefined {
  return repositories.find((text) => !allowed.has(repositoryUrl(text) ?? ''));
}

/** Returns the error for a repository that is not allowed. Its message omits user and password. */
export function notAllowed(kind: typeof invalid, owner: DependencyOwner | 'JOB', text: string): DomainError {
  const repository = text.replace(/\/\/[^/]*@/, '//');
  return kind(
    `${owner}.REPOSITORY_NOT_ALLOWED`,
    `The repository "${repository}" is not among the tenant's dependency repositories. Ask an administrator to add it.`,
    { repository },
  );
}
