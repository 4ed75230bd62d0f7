/** Runs a command so that file permissions apply to it, even if the tests run as root. */
export const withoutPrivilege: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search', '--'] : [];

/** Whether the tests may start programs as other users. */
export const canBecomeOthers: boolean = process.platform === 'linux' && process.getuid?.() === 0;
