import { type DomainError, invalid } from '../../../../platform/kernel/errors/domain-error';

/** What a cluster or a job configuration says of the packages that its jobs load. */
export interface Dependencies {
  packages?: readonly string[] | null;
  repositories?: readonly string[] | null;
}

/** Who names packages and repositories: the beginning of the codes of its refusals. */
export type NamesDependencies = 'CLUSTER' | 'JOB_CONF' | 'NOTEBOOK_CONF';

const MAX_URL = 1024;

/** What would end a list of URLs, or be read in different ways by different parsers. */
const ODD = /[\s\p{Cc},\\?#]/u;

/**
 * The one form of a repository's URL, with a slash at its end; null for what is none: other schemes, user info, queries,
 * fragments, commas, blanks, and more than 1024 characters.
 */
export function repositoryUrl(text: string): string | null {
  if (text.length > MAX_URL || ODD.test(text)) return null;
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') return null;
  const { href } = url;
  const form = href.endsWith('/') ? href : `${href}/`;
  return form.length > MAX_URL ? null : form;
}

/** What a part of Maven coordinates may be; a version may not climb out of its folder. */
const PART = '[A-Za-z0-9_][A-Za-z0-9_.+~-]*';
const PACKAGE = new RegExp(`^${PART}[:/]${PART}:${PART}$`);
const MAX_PACKAGE = 1024;

/** Throws a 400 for the first text that is no package as Spark reads them. */
export function checkPackages(who: NamesDependencies, packages: Dependencies['packages']): void {
  for (const text of packages ?? []) {
    if (text.length <= MAX_PACKAGE && PACKAGE.test(text)) continue;
    throw invalid(`${who}.INVALID_PACKAGE`, `The package "${text}" is not group:artifact:version.`, { package: text });
  }
}

/** Throws a 400 for the first repository that is not among the allowed ones, whose URLs are in {@link repositoryUrl}'s form. */
export function checkRepositories(
  who: NamesDependencies,
  repositories: Dependencies['repositories'],
  allowed: ReadonlySet<string>,
): void {
  const other = firstOther(repositories ?? [], allowed);
  if (other !== undefined) throw notAllowed(invalid, who, other);
}

/** The first of the repositories that is not allowed. */
export function firstOther(repositories: readonly string[], allowed: ReadonlySet<string>): string | undefined {
  return repositories.find((text) => !allowed.has(repositoryUrl(text) ?? ''));
}

/** The refusal of a repository, which it names without user and password. */
export function notAllowed(kind: typeof invalid, who: NamesDependencies | 'JOB', text: string): DomainError {
  const repository = text.replace(/\/\/[^/]*@/, '//');
  return kind(
    `${who}.REPOSITORY_NOT_ALLOWED`,
    `The repository "${repository}" is not among the tenant's dependency repositories. An administrator can add it by its URL.`,
    { repository },
  );
}
