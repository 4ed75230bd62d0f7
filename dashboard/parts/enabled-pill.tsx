import { Pill } from './pill.tsx';

export function EnabledPill({ enabled }: { readonly enabled: boolean }) {
  return <Pill tone={enabled ? 'good' : 'quiet'}>{enabled ? 'Enabled' : 'Disabled'}</Pill>;
}
