/** `217 B`, `1.4 KB`, `256 KB`, `1.2 MB`. A KB is 1024 bytes, as in the limits. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [size, unit] = bytes < 1024 * 1024 ? [bytes / 1024, 'KB'] : [bytes / 1024 / 1024, 'MB'];
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}
