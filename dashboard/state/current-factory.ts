import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** The factory that a page shows, and what the user may do there. */
export interface CurrentFactory {
  readonly factory: string;
  readonly mayManage: boolean;
  /** Webhooks and automations are changed in the dashboard, not in definition files. */
  readonly managedHere: boolean;
  /** The factory is reconciled with a branch of a repository. */
  readonly followsBranch: boolean;
  /** The commit that is applied; null if definitions do not come from a repository. */
  readonly revision: string | null;
  /** Reads all of this again. */
  readonly reload: () => void;
}

export const FactoryContext = createContext<CurrentFactory | undefined>(undefined);

export function useFactory(): CurrentFactory {
  const current = useContext(FactoryContext);
  if (!current) throw new Error('useFactory needs a FactoryContext around it');
  return current;
}
