import { openEmbeddedStore } from './embedded/embedded-store.ts';
import type { Store, StoreOptions } from './ports.ts';

/** Opens the store in a home directory. Nothing is read or created before it is needed. */
export function openStore(options: StoreOptions): Store {
  return openEmbeddedStore(options);
}
