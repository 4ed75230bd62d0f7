/**
 * The place of a file that the package ships as it is. `path` is its path from the root of the package, which is one folder
 * above this file, and above the bundle of it in `dist/`.
 */
export function toPackageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}
