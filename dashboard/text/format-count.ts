/** `1 webhook`, `2 webhooks`. */
export function formatCount(count: number, thing: string): string {
  return count === 1 ? `1 ${thing}` : `${count} ${thing}s`;
}
