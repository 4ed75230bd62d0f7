import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The headless shell first: it takes a third of the processor time of a browser that could also show windows. */
const executablePaths = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Finds an installed Chromium, and returns its path; undefined if there is none. */
export function findChromium(): string | undefined {
  return executablePaths.find(existsSync);
}

/** Starts the Chromium at the path, without a window. It ends with this process at the latest. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args });
}
