import { describeOperation } from '../../schema/clients/describe.ts';

const irregular: Readonly<Record<string, string>> = { begin: 'began', run: 'ran', send: 'sent', set: 'set' };

/** Names a change by its operation, as something that was done: `createWebhook` is `Created webhook`. */
export function sayChange(operation: string): string {
  const [verb = '', ...others] = describeOperation(operation).split(' ');
  const said = [irregular[verb] ?? toPast(verb), ...others].join(' ');
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
}

function toPast(verb: string): string {
  if (verb.endsWith('e')) return `${verb}d`;
  if (verb.endsWith('cel')) return `${verb}led`;
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ied` : `${verb}ed`;
}
