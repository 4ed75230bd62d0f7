import { formatSize } from '../text/format-size.ts';

/** A size in bytes, with the exact number on hover. */
export function Size({ bytes }: { readonly bytes: number }) {
  return <span title={`${bytes.toLocaleString('en')} bytes`}>{formatSize(bytes)}</span>;
}
