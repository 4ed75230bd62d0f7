import { urlGone } from '../../schema/changes/describe-impact.ts';
import type { Confirmation, ConfirmationReason, FieldChange } from '../../schema/changes/plan-shapes.ts';

interface ConfirmableChange {
  readonly action: string;
  readonly kind: string;
  readonly name: string;
  readonly fields: readonly FieldChange[];
  readonly confirmation?: Confirmation | undefined;
}

/**
 * Marks each change that needs a confirmation: anything destroyed, and each new use of a team secret in another way
 * than its other uses. Such a use is found by the name of its webhook.
 */
export function withConfirmations<C extends ConfirmableChange>(
  changes: readonly C[],
  shared: ReadonlyMap<string, Confirmation>,
): C[] {
  return changes.map(change => {
    const confirmation = findConfirmation(change, shared);
    return confirmation ? { ...change, confirmation } : change;
  });
}

/** The changes that need a confirmation for a reason that is not among the confirmed ones. */
export function findUnconfirmed<C extends ConfirmableChange>(
  changes: readonly C[],
  confirmed: readonly ConfirmationReason[] = [],
): (C & { readonly confirmation: Confirmation })[] {
  return changes.flatMap(change => {
    const { confirmation } = change;
    return confirmation && !confirmed.includes(confirmation.reason) ? [{ ...change, confirmation }] : [];
  });
}

function findConfirmation(
  { action, kind, name, fields }: ConfirmableChange,
  shared: ReadonlyMap<string, Confirmation>,
): Confirmation | undefined {
  if (action === 'delete') {
    const message = kind === 'webhook' ? `it is destroyed, and its ${urlGone}` : 'it is destroyed';
    return { reason: 'destroy', message };
  }
  const isNewUse = kind === 'webhook' && fields.some(({ field }) => useFields.has(field));
  return isNewUse ? shared.get(name) : undefined;
}

/** The fields of a webhook that say which team secret it uses, and in which way. */
const useFields: ReadonlySet<string> = new Set(['authMode', 'signatureScheme', 'secretName', 'sender']);
