/** Time after somebody's last key or click from which the page only reads by itself, in ms. */
const attendedMs = 60_000;
const signs = ['pointerdown', 'keydown', 'wheel', 'touchmove'] as const;

let usedAtMs = Date.now();

/** Notices when somebody uses the page, so that a page that only reads by itself does not keep its session. */
export function noticeUse(): void {
  const note = () => {
    usedAtMs = Date.now();
  };
  for (const sign of signs) addEventListener(sign, note, { capture: true, passive: true });
}

export function isUnattended(): boolean {
  return Date.now() - usedAtMs > attendedMs;
}
