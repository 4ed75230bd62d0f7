/** Runs a command so that file permissions apply to it, even if the tests run as root. */
export const withoutPrivilege: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search', '--'] : [];
