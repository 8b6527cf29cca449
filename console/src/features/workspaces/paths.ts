/** Paths are kept without a slash at their ends, as they stand in the address and in jobs; the root is ''. */
export function cleanPath(path: string): string {
  return path.split('/').filter(Boolean).join('/');
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Returns the folders above a path, the outermost first. */
export function foldersOf(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter(Boolean);
  return names.map((name, index) => ({ name, path: names.slice(0, index + 1).join('/') }));
}

/** Returns a name that a record may have, made of the name of a file. */
export function recordNameOf(fileName: string): string {
  const name = fileName
    .replace(/\.\w+$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9.@_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name.slice(0, 64) || 'job';
}
