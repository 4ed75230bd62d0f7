import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { openEmbeddedStore } from '../../../store/embedded/embedded-store.ts';
import { describeReader, describeStore } from '../conformance/describe-store.ts';
import type { MakePlace } from '../conformance/place.ts';

const homePlace =
  (readsInThread: boolean): MakePlace =>
  () => {
    const home = join(mkdtempSync(join(tmpdir(), 'store-')), 'home');
    return {
      open: options =>
        openEmbeddedStore({
          home,
          environment: {},
          lockTimeoutMs: 10_000,
          now: () => new Date(),
          readsInThread,
          ...options,
        }),
    };
  };

describeStore('a home', homePlace(false), 'one');
describe('a home that is read in a thread of its own', () => describeReader(homePlace(true)));
