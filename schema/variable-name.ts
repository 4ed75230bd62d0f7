/** The form of the names of environment variables. */
export const variableNamePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether a text names a variable that commands may get. The variables of hookmill itself hold its key, among others. */
export function isPassedVariable(text: string): boolean {
  return variableNamePattern.test(text) && !text.startsWith('HOOKMILL_');
}
