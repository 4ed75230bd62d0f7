import { humanSize } from '../text/format-size.ts';

/** Bytes for people, the exact number on hover. */
export function Size({ bytes }: { readonly bytes: number }) {
  return <span title={`${bytes.toLocaleString('en')} bytes`}>{humanSize(bytes)}</span>;
}
