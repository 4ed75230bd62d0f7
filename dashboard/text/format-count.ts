/** `1 webhook`, `2 webhooks`. */
export function formatCount(count: number, thing: string, things = `${thing}s`): string {
  return count === 1 ? `1 ${thing}` : `${count} ${things}`;
}
