import type { ShownStatus } from '../../api-types.ts';
import { PageHeading } from '../../parts/page-heading.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { toHref } from '../../state/page-location.ts';
import { AuditPage } from '../audit/audit-page.tsx';
import { StatusPage } from '../status/status-page.tsx';

interface Properties {
  readonly section: string;
  readonly status: ShownStatus;
}

const sections = [
  ['branch', 'Branch'],
  ['audit', 'Audit log'],
] as const;

/** What is set up once, and looked at when something is wrong. */
export function SettingsPage({ section, status }: Properties) {
  const { factory } = useFactory();
  return (
    <div class="page reading">
      <PageHeading title="Settings" />
      <div class="side">
        <nav aria-label="Settings">
          {sections.map(([id, label]) => (
            <a
              key={id}
              href={toHref({ page: 'settings', factory, id })}
              aria-current={id === section ? 'page' : undefined}
            >
              {label}
            </a>
          ))}
        </nav>
        <div>{section === 'audit' ? <AuditPage /> : <StatusPage status={status} />}</div>
      </div>
    </div>
  );
}
