/** Runs a command so that permissions hold for it, for root too. */
export const withoutPrivilege: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search', '--'] : [];
