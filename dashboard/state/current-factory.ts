import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Status } from '../api-types.ts';

/** The factory that the page is about, and what may be done there. */
export interface FactoryView {
  readonly factory: string;
  readonly status: Status;
  readonly mayManage: boolean;
  /** Whether webhooks and automations are made here, not in definition files. */
  readonly managedHere: boolean;
  /** Reads the status anew. */
  readonly reload: () => void;
}

export const FactoryContext = createContext<FactoryView | undefined>(undefined);

export function useFactory(): FactoryView {
  const view = useContext(FactoryContext);
  if (!view) throw new Error('the page is not about a factory');
  return view;
}

export function factoryView(status: Status, reload: () => void): FactoryView {
  return {
    factory: status.factory,
    status,
    mayManage: status.permission === 'manage',
    managedHere: status.managedBy === 'dashboard' || status.managedBy === null,
    reload,
  };
}
