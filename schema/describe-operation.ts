/** Renders an operation of the audit log in words: `changeWebhook` is `change webhook`. */
export function describeOperation(operation: string): string {
  return operation.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}
