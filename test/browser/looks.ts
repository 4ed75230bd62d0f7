import type { Page } from 'playwright-core';

export type Look = 'light' | 'dark' | 'phone';

const phone = { width: 360, height: 740 };

/** Shows the page as it is in light colours, in dark colours and on a phone, and leaves it as it was. */
export async function inEachLook(page: Page, look: (name: Look) => Promise<void>): Promise<void> {
  const desktop = page.viewportSize() ?? phone;
  await look('light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await look('dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(phone);
  await look('phone');
  await page.setViewportSize(desktop);
}

/** How far the page is wider than its window, in CSS pixels. */
export function readOverhang(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
}
