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
