import { render } from 'preact';
import { useState } from 'preact/hooks';
import { HourChart, Spark } from '../../dashboard/parts/charts.tsx';
import { ChoiceChip, ToggleChip } from '../../dashboard/parts/chips.tsx';
import { Cells, Clauses } from '../../dashboard/parts/clauses.tsx';
import { Finder, Key, Segments, Tabs } from '../../dashboard/parts/controls.tsx';
import { CopyableBlock, CopyableLine } from '../../dashboard/parts/copyable.tsx';
import { Question } from '../../dashboard/parts/dialog.tsx';
import { Choices, Field } from '../../dashboard/parts/fields.tsx';
import { Empty, Waiting } from '../../dashboard/parts/lists.tsx';
import { Menu } from '../../dashboard/parts/menu.tsx';
import { Monogram } from '../../dashboard/parts/monogram.tsx';
import { Notice } from '../../dashboard/parts/notice.tsx';
import { PageHeading } from '../../dashboard/parts/page-heading.tsx';
import { Path, Strip } from '../../dashboard/parts/path.tsx';
import { Diagnostics, ProblemNotice } from '../../dashboard/parts/problem-notice.tsx';
import { State } from '../../dashboard/parts/signs.tsx';
import { ClockTime, Fact, Facts, Id, Moment, Since, Size, Time } from '../../dashboard/parts/text.tsx';
import { toBars, toSparkBars } from '../../dashboard/text/delivery-bars.ts';

const signs = [
  ...([
    'accepted',
    'rejected',
    'duplicate',
    'waiting',
    'done',
    'fails',
    'running',
    'queued',
    'held',
  ] as const),
  ...(['stopped', 'failed', 'dismissed', 'quiet', 'disabled', 'warning', 'branch', 'turn', 'well'] as const),
];
const at = new Date(Date.now() - 18 * 60_000).toISOString();
const hours = Array.from({ length: 24 }, (_, hour) => hour);
const tallies = [
  { outcome: 'Accepted', hours },
  { outcome: 'Duplicate', hours: hours.map(hour => hour % 5) },
  { outcome: 'Rejected (auth)', hours: hours.map(hour => (hour > 20 ? 12 : 0)) },
] as const;
const bars = toBars('2026-11-22T00:00:00Z', tallies, 'day');
const range = { start: { line: 3, column: 5 }, end: { line: 3, column: 9 } };
const options = ['github', 'stripe'].map(value => ({ value, label: value }));
const ignore = () => undefined;

/** Each part in each of its states. The test gives `is-hovered` the styles of `:hover`. */
function Parts() {
  return (
    <main id="main" tabIndex={-1}>
      <div class="page">
        <PageHeading title="Parts" />
        <Signs />
        <Controls />
        <Fields />
        <Notices />
        <Answers />
        <HourChart title="Deliveries by hour" bars={bars} span="day" />
      </div>
    </main>
  );
}

const Signs = () => (
  <div class="flow wrap">
    {signs.map(sign => (
      <State key={sign} sign={sign}>
        {sign}
      </State>
    ))}
    {(['s', 'm', 'l'] as const).map(size => (
      <Monogram key={size} scheme="stripe" name="Stripe" size={size} />
    ))}
    <Monogram scheme={null} name="deploys" size="m" />
    <span class="tag">plain</span>
    <span class="live">live</span>
    <Spark bars={toSparkBars(bars)} />
  </div>
);

function Controls() {
  const [isAsking, setAsking] = useState(false);
  const chip = { label: 'Webhook', none: 'All webhooks', options, onChoose: ignore };
  const entries = [
    ...[{ label: 'Rename…' }, { label: 'Copy a link', aside: <Key>u</Key> }, null],
    { label: 'Delete…', isBad: true },
  ] as const;
  return (
    <div class="flow wrap">
      {['primary', 'plain', 'quiet', 'danger', 'small'].flatMap(kind =>
        ['', 'is-hovered'].map(state => (
          <button key={kind + state} type="button" class={`btn ${kind} ${state}`}>
            {kind}
          </button>
        )),
      )}
      <button type="button" class="btn" aria-disabled="true">
        Retrying…
      </button>
      <Finder label="Search payloads" value="" onInput={ignore} aside="1 of 3" />
      <ChoiceChip {...chip} value="" />
      <ChoiceChip {...chip} value="stripe" />
      <ToggleChip label="Exceptions" on onToggle={ignore} count={12} tone="bad" />
      <ToggleChip label="Held" on={false} onToggle={ignore} count={0} />
      <Segments
        {...{ label: 'Period', value: 'day', onChange: ignore }}
        options={Object.entries({ day: '24 hours', week: '7 days' })}
      />
      <Menu label="More" entries={entries} />
      <button type="button" class="btn" onClick={() => setAsking(true)}>
        Disable…
      </button>
      {isAsking && (
        <Question
          {...{ title: 'Disable stripe?', keep: 'Keep it', act: 'Disable stripe', acting: 'Disabling…' }}
          isDangerous
          onAct={async () => undefined}
          onClose={() => setAsking(false)}
        >
          <p>Stripe gets 404 for every delivery from now on.</p>
        </Question>
      )}
      <Tabs
        label="Parts"
        tabs={[
          { label: 'Deliveries', href: '#', current: true, count: 1_482 },
          { label: 'Set-up', href: '#', current: false },
        ]}
      />
    </div>
  );
}

const Fields = () => (
  <>
    <Field label="Name" hint="1–63 lowercase letters, digits or hyphens.">
      {ids => <input {...ids} class="input" value="deploys" />}
    </Field>
    <Field label="Limit" hint={<span class="bad">Use a number.</span>}>
      {ids => <input {...ids} class="input" value="ten" aria-invalid="true" />}
    </Field>
    <Choices
      {...{ legend: 'Secret', value: 'generate', onChange: ignore }}
      options={[
        { value: 'generate', label: 'hookmill makes it', hint: 'Shown once.' },
        { value: 'enter', label: 'The provider shows it' },
      ]}
    />
    <CopyableLine text="hookmill send github --payload event.json" what="command" isCommand />
    <CopyableBlock what="webhooks/deploys.yaml" text={'authMode: token\nsecretName: DEPLOYS_TOKEN'} />
  </>
);

const Notices = () => (
  <>
    <Waiting error={undefined} reload={ignore} what="rows" />
    <Empty title="No delivery of today contains “refnd”.">
      <p>4,812 were searched.</p>
    </Empty>
    <Notice tone="bad" cause="The signature is 15 min old." more="Compare the clocks." />
    <Notice tone="warn" cause="The signature is 15 min old." more="Compare the clocks." />
    <Notice cause="The signature is 15 min old." more="Compare the clocks." />
    <ProblemNotice error={new Error('the disk is full')} retry={ignore} />
    <Diagnostics
      diagnostics={[
        {
          ...{ code: 'yaml/unreadable', severity: 'error', file: 'webhooks/a.yaml', range },
          ...{ message: 'Unknown key', hint: 'Did you mean authMode?' },
        },
      ]}
    />
    <div class="toast" role="status">
      Run queued again{' '}
      <a class="btn small" href="#/">
        Open
      </a>
    </div>
  </>
);

const times = (
  <>
    <ClockTime at={at} />, <Time at={at} />, <Since at={at} />, <Moment at={at} />
  </>
);

const Answers = () => (
  <>
    <Path
      label="A run"
      steps={[
        { key: 'received', sign: 'done', title: 'Received', at: <ClockTime at={at} /> },
        { key: 'first', sign: 'failed', title: 'First', more: 'boom', took: { from: 0.3, length: 0.4 } },
        { key: 'second', sign: 'running', title: 'Second', stage: 'now' },
        { key: 'end', sign: 'queued', title: 'End', stage: 'next' },
      ]}
    />
    <Strip
      label="The last request"
      steps={[
        { label: 'Sender', sign: 'done' },
        { label: 'Authentication', sign: 'failed', stage: 'no' },
        { label: 'Runs', sign: 'waiting', stage: 'off' },
      ]}
    />
    <Clauses
      rows={(['holds', 'near', 'fails'] as const).map(verdict => ({
        ...{ path: `$.${verdict}`, operator: 'in', allowed: 'refs/*', found: 'heads/main', verdict },
      }))}
    />
    <Cells
      label="The last 3 deliveries"
      cells={(['match', 'near', 'no'] as const).map(id => ({ id, verdict: id, href: '#', title: id }))}
    />
    <Facts>
      <Fact
        term="ID"
        value={[<Id key="id" id="dlv_01m856whecx7r30kredhc56hrf" />, <Size key="size" bytes={1_500_000} />]}
      />
      <Fact term="Times" value={times} />
    </Facts>
  </>
);

const root = document.getElementById('app');
if (root) render(<Parts />, root);
