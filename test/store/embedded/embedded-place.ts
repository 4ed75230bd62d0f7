import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../../store/embedded/embedded-store.ts';
import type { MakePlace } from '../conformance/place.ts';

/** Makes homes. Each store reads its delivery log in a thread of its own, or in the thread of the test. */
export function embeddedPlaces({ readsInThread } = { readsInThread: false }): MakePlace {
  return () => {
    const home = join(mkdtempSync(join(tmpdir(), 'store-')), 'home');
    return {
      open: options =>
        openEmbeddedStore({
          ...{ home, environment: {}, lockTimeoutMs: 10_000, readsInThread },
          now: () => new Date(),
          ...options,
        }),
    };
  };
}
