import type { Store, StoreOptions } from './ports/store.ts';

/** Opens the store in PostgreSQL or in the home, and loads only that. Nothing is read or created before it is needed. */
export async function openStore({ postgres, ...options }: StoreOptions): Promise<Store> {
  if (!postgres) return (await import('./embedded/embedded-store.ts')).openEmbeddedStore(options);
  return (await import('./postgres/postgres-store.ts')).openPostgresStore({ ...options, postgres });
}
