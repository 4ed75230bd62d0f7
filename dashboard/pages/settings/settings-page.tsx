import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ListedSecret, ShownStatus } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Empty } from '../../parts/lists.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Sign } from '../../parts/signs.tsx';
import { isSeen } from '../../state/attention.ts';
import { useFactory } from '../../state/current-factory.ts';
import { type Loading, useLoad } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { formatCount } from '../../text/format-values.ts';
import { AlertsSection } from './alerts-section.tsx';
import { AuditSection } from './audit-section.tsx';
import { BranchSection } from './branch-section.tsx';
import { DaemonSection } from './daemon-section.tsx';
import { lacksValue, SecretsSection } from './secrets-section.tsx';
import { SignInSection } from './sign-in-section.tsx';
import { TokensSection } from './tokens-section.tsx';

interface Properties {
  readonly section: string;
  readonly status: ShownStatus;
}

interface SectionProperties {
  readonly status: ShownStatus;
  readonly secrets: Loading<ListedSecret[]>;
}

interface Section {
  readonly label: string;
  /** Whether only people who may manage the factory see it. */
  readonly isManaged?: true;
  readonly show: (properties: SectionProperties) => VNode;
  /** What is wrong there, if something is. */
  readonly mark?: (properties: SectionProperties) => VNode | undefined;
}

const sections: Readonly<Record<string, Section>> = {
  branch: { label: 'Branch', show: ({ status }) => <BranchSection status={status} />, mark: markBranch },
  secrets: {
    label: 'Secrets',
    show: ({ secrets }) => <SecretsSection secrets={secrets} />,
    mark: markSecrets,
  },
  tokens: { label: 'Tokens', isManaged: true, show: () => <TokensSection /> },
  'sign-in': { label: 'Sign-in', show: () => <SignInSection /> },
  alerts: { label: 'Alerts', show: () => <AlertsSection />, mark: markAlerts },
  audit: { label: 'Audit log', isManaged: true, show: () => <AuditSection /> },
  daemon: { label: 'Daemon', show: ({ status }) => <DaemonSection status={status} /> },
};

/** What is set up once, and looked at when something is wrong. */
export function SettingsPage({ section, status }: Properties) {
  const { factory, mayManage } = useFactory();
  const nav = useRef<HTMLElement>(null);
  // On a phone, the sections do not all fit.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [section]);
  const secrets = useLoad(
    async signal => (await callApi('get', '/factories/{factory}/secrets', { factory, signal })).secrets,
    [factory],
  );
  const current = Object.hasOwn(sections, section) ? sections[section] : undefined;
  return (
    <div class="page reading">
      <PageHeading title="Settings" windowTitle={current ? `${current.label}, settings` : 'Settings'} />
      <div class="side">
        <nav ref={nav} aria-label="Settings">
          {Object.entries(sections)
            .filter(([, { isManaged }]) => mayManage || !isManaged)
            .map(([id, { label, mark }]) => (
              <a
                key={id}
                href={toHref({ page: 'settings', factory, id })}
                aria-current={id === section ? 'page' : undefined}
              >
                {label}
                {mark?.({ status, secrets })}
              </a>
            ))}
        </nav>
        <div>
          {!current ? (
            <Empty title="There are no settings at this address." />
          ) : current.isManaged && !mayManage ? (
            <Empty title={`You need the manage permission to see: ${current.label}.`} />
          ) : (
            current.show({ status, secrets })
          )}
        </div>
      </div>
    </div>
  );
}

function markBranch({ status: { problem, reconcile, attention } }: SectionProperties) {
  if (problem) return <Sign name="failed" label="not served" />;
  if (reconcile?.suspendedAt) return <Sign name="held" label="suspended" />;
  if (reconcile?.failingSince) return <Sign name="failed" label="cannot be applied" />;
  const isDrifted = attention.some(({ type }) => type === 'drift');
  return isDrifted ? <Sign name="warning" label="drift" /> : undefined;
}

function markSecrets({ secrets: { value } }: SectionProperties) {
  const lacking = value?.filter(lacksValue).length ?? 0;
  return lacking > 0 ? <Sign name="warning" label={`${formatCount(lacking, 'value')} missing`} /> : undefined;
}

function markAlerts({ status: { attention } }: SectionProperties) {
  const open = attention.filter(item => item.id !== null && !isSeen(item));
  if (open.length === 0) return undefined;
  return (
    <span class="push count bad small">
      {open.length}
      <span class="unseen"> open</span>
    </span>
  );
}
