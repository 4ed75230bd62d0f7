import type { ComponentType } from 'preact';
import { useLoad } from '../state/use-load.ts';
import { Waiting } from './waiting.tsx';

/** A component whose code is loaded when it is first shown. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  what: string,
): ComponentType<P> {
  return function Lazy(properties: P) {
    const { value: Loaded, error, reload } = useLoad(load, []);
    return Loaded ? <Loaded {...properties} /> : <Waiting error={error} reload={reload} what={what} />;
  };
}
