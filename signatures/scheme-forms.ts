import type { SignatureScheme } from './description.ts';
import { schemes } from './schemes.ts';

/** Schemes whose signatures have one form, so that no request can tell them apart. */
export type SchemeForm = readonly [SignatureScheme, ...SignatureScheme[]];

/** All schemes, grouped by form. */
export const schemeForms: readonly SchemeForm[] = [...Map.groupBy(schemes, describeForm).values()].flatMap(
  ([first, ...others]) => (first ? [[first, ...others] as const] : []),
);

/** Describes everything that decides whether a signature matches. */
function describeForm(scheme: SignatureScheme): string {
  const {
    id,
    provider,
    kind,
    page,
    secretLocation,
    secretCommand,
    note,
    noIdentity,
    eventHeaders,
    checked,
    ...description
  } = scheme;
  const { handshake, deliveryIdHeader, ...form } = description;
  return JSON.stringify(Object.entries(form).sort(([a], [b]) => (a < b ? -1 : 1)));
}
