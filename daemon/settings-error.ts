/** The settings name something that does not exist, such as an environment variable. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
