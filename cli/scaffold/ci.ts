import { isScalar, isSeq, parseDocument } from 'yaml';

/**
 * The shell script by which a CI job installs hookmill in the directory `$to`, from the tarball that HOOKMILL_PACKAGE
 * names (a URL or an absolute path) and HOOKMILL_INTEGRITY pins. The tarball contains all dependencies, so npm takes no
 * part, and neither do the `.npmrc` and `node_modules` of a checkout.
 */
export const ciInstallScript = `rm -rf "$to" && mkdir -p "$to" && cd "$to"
node -e '
  const { HOOKMILL_PACKAGE: from = "", HOOKMILL_INTEGRITY: pinned } = process.env;
  const read = async () => {
    if (!/^https?:/.test(from)) return require("node:fs").readFileSync(from);
    const response = await fetch(from);
    if (!response.ok) throw new Error(from + " answers " + response.status);
    return Buffer.from(await response.arrayBuffer());
  };
  const check = bytes => {
    const found = "sha512-" + require("node:crypto").hash("sha512", bytes, "base64");
    if (found !== pinned) throw new Error(from + " has the integrity " + found + ", not HOOKMILL_INTEGRITY");
    require("node:fs").writeFileSync("package.tgz", bytes);
  };
  read().then(check).catch(({ message }) => {
    require("node:fs").writeFileSync(2, "hookmill is not installed: " + message + "\\n");
    process.exit(1);
  });
'
tar -xzf package.tgz --strip-components=1 && rm package.tgz
`;

/** Placeholders in a new workflow for the tarball, which its author has to name. */
export const ciPackagePlaceholders = {
  url: 'https://files.example.com/hookmill.tgz',
  integrity: 'sha512-REPLACE_ME',
} as const;

/** The text of a file that covers the directory now, or whether it did already; `unknown`: it has no list that `init` knows. */
type Covered = { readonly text: string } | 'already' | 'unknown';

export type CoverDirectory = typeof coverDirectory;

/**
 * Adds a definitions directory to the list, at this path of a YAML file, of those for which CI validates and plans. Only
 * one line is added; the rest of the file may have been changed by hand, and stays as it is.
 */
export function coverDirectory(text: string, path: readonly (string | number)[], directory: string): Covered {
  const document = parseDocument(text);
  const list = document.errors.length === 0 ? document.getIn(path) : undefined;
  if (!isSeq(list) || list.flow || !list.items.every(isScalar)) return 'unknown';
  if (list.items.some(({ value }) => String(value) === directory)) return 'already';
  const [start = 0, end = 0] = list.items.at(-1)?.range ?? [];
  const dash = text.slice(text.lastIndexOf('\n', start) + 1, start);
  if (!/^ *- +$/.test(dash)) return 'unknown';
  const lineEnd = text.indexOf('\n', end);
  const at = lineEnd < 0 ? text.length : lineEnd;
  return { text: `${text.slice(0, at)}\n${dash}${quoteYaml(directory)}${text.slice(at)}` };
}

/** Quotes a YAML scalar unless it certainly needs no quotes. It uses the quotes of JSON, which YAML also reads. */
export function quoteYaml(text: string): string {
  return /^[\w][\w ./@>|-]*$/.test(text) ? text : JSON.stringify(text);
}
