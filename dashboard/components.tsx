// Every component in every state, for people who work on the dashboard: `npm run dashboard:components`. The daemon does
// not serve this page.
import { type ComponentChildren, render } from 'preact';
import { useState } from 'preact/hooks';
import { HourChart, Spark } from './parts/charts.tsx';
import { ChoiceChip, ToggleChip } from './parts/chips.tsx';
import { Cells, Clauses } from './parts/clauses.tsx';
import { Finder, Key, Segments, Tabs } from './parts/controls.tsx';
import { CopyableBlock, CopyableLine } from './parts/copyable.tsx';
import { Question } from './parts/dialog.tsx';
import { Choices, Field } from './parts/fields.tsx';
import { Empty, Waiting } from './parts/lists.tsx';
import { Menu } from './parts/menu.tsx';
import { Monogram } from './parts/monogram.tsx';
import { Notice } from './parts/notice.tsx';
import { PageHeading } from './parts/page-heading.tsx';
import { Path, Strip } from './parts/path.tsx';
import { Diagnostics, ProblemNotice } from './parts/problem-notice.tsx';
import { State } from './parts/signs.tsx';
import { ClockTime, Fact, Facts, Id, Moment, Since, Size, Time } from './parts/text.tsx';
import { toBars, toSparkBars } from './text/delivery-bars.ts';
import type { SignName } from './text/looks.ts';

const signs: readonly (readonly [SignName, string])[] = [
  ['accepted', 'accepted'],
  ['rejected', 'rejected'],
  ['duplicate', 'duplicate'],
  ['waiting', 'waiting'],
  ['done', 'succeeded, healthy'],
  ['fails', 'does not hold'],
  ['running', 'running'],
  ['queued', 'queued'],
  ['held', 'held'],
  ['stopped', 'stopped by runsPerHour'],
  ['failed', 'failed, failing'],
  ['dismissed', 'dismissed'],
  ['quiet', 'quiet'],
  ['disabled', 'disabled'],
  ['warning', 'nearly, warning'],
  ['branch', 'branch refused'],
  ['turn', 'your turn'],
  ['well', 'all is well'],
];

const hour = 3_600_000;
const now = Math.floor(Date.now() / hour) * hour + hour / 2;
const id = 'dlv_01m856whecx7r30kredhc56hrf';
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const counts = Array.from({ length: 168 }, (_, index) => 20 + Math.round(15 * Math.sin(index / 4)));
const tallies = [
  { outcome: 'Accepted', hours: counts },
  { outcome: 'Duplicate', hours: counts.map((_, index) => (index % 5 === 0 ? 2 : 0)) },
  { outcome: 'Rejected (auth)', hours: counts.map((_, index) => (index > 164 ? 12 : 0)) },
] as const;
const bars = toBars(new Date(Math.ceil(now / hour) * hour - 168 * hour).toISOString(), tallies, 'day');

function Components() {
  return (
    <main id="main" tabIndex={-1}>
      <div class="page">
        <PageHeading title="Components and their states" />
        <Signs />
        <Buttons />
        <div class="split">
          <div>
            <Fields />
            <Lists />
            <Notices />
          </div>
          <div>
            <Controls />
            <Paths />
            <Filters />
            <Texts />
          </div>
        </div>
        <HourChart title="Deliveries by hour" bars={bars} span="day" />
      </div>
    </main>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section>
      <div class="sec">
        <h2>{title}</h2>
      </div>
      <div class="stack">{children}</div>
    </section>
  );
}

function Signs() {
  return (
    <Part title="Signs: shape first, colour only for exceptions">
      <div class="flow wrap">
        {signs.map(([sign, word]) => (
          <State key={sign} sign={sign}>
            {word}
          </State>
        ))}
      </div>
      <div class="flow wrap">
        {(['s', 'm', 'l'] as const).map(size => (
          <Monogram key={size} scheme="stripe" name="Stripe" size={size} />
        ))}
        <Monogram scheme="github" name="GitHub" size="m" />
        <Monogram scheme={null} name="deploys" size="m" />
        {['', 'run', 'warn', 'bad'].map(tone => (
          <span key={tone} class={`tag ${tone}`}>
            {tone || 'plain'}
          </span>
        ))}
        <span class="live">live</span>
        <Spark bars={toSparkBars(bars)} />
      </div>
    </Part>
  );
}

function Buttons() {
  const kinds = ['primary', '', 'quiet', 'danger', 'small'];
  return (
    <Part title="Buttons: rest, hover, focus, busy">
      <div class="flow wrap">
        {kinds.flatMap(kind =>
          ['', 'is-hover', 'is-focus'].map(state => (
            <button key={kind + state} type="button" class={`btn ${kind} ${state}`}>
              {kind || 'plain'}
            </button>
          )),
        )}
        <button type="button" class="btn" aria-disabled="true">
          Retrying…
        </button>
      </div>
    </Part>
  );
}

function Fields() {
  const [name, setName] = useState('deploys!');
  const [mode, setMode] = useState<'generate' | 'enter'>('generate');
  const input = { class: 'input', value: name };
  return (
    <Part title="Fields">
      <Field label="Name" hint="1–63 lowercase letters, digits or hyphens.">
        {ids => <input {...ids} {...input} onInput={event => setName(event.currentTarget.value)} />}
      </Field>
      <div class="field invalid">
        <label for="invalid">Name</label>
        <input id="invalid" {...input} aria-invalid="true" aria-describedby="mistake" />
        <span class="err" id="mistake">
          Use lowercase letters, digits and hyphens: deploys
        </span>
      </div>
      <Choices
        legend="Secret"
        value={mode}
        options={[
          { value: 'generate', label: 'hookmill makes it', hint: 'Shown once.' },
          { value: 'enter', label: 'The provider shows it' },
        ]}
        onChange={setMode}
      />
    </Part>
  );
}

function Controls() {
  const [view, setView] = useState<'day' | 'week'>('day');
  const [webhook, setWebhook] = useState('');
  const [on, setOn] = useState(true);
  const [text, setText] = useState('');
  const options = ['github', 'stripe', 'deploys'].map(each => ({ value: each, label: each }));
  const tab = (label: string, current = false, count?: number) => ({ label, href: '#', current, count });
  return (
    <Part title="Controls">
      <Finder label="Search payloads" value={text} onInput={setText} aside="1 of 3" />
      <div class="filters">
        <ChoiceChip
          {...{ label: 'Webhook', none: 'All webhooks', options }}
          value={webhook}
          onChoose={setWebhook}
        />
        <ChoiceChip
          {...{ label: 'Webhook', none: 'All webhooks', options }}
          value="stripe"
          onChoose={setWebhook}
        />
        <ToggleChip label="Exceptions" on={on} onToggle={setOn} count={12} tone="bad" />
        <ToggleChip label="Held" on={!on} onToggle={each => setOn(!each)} count={0} />
        <Segments
          label="Period"
          value={view}
          options={[
            ['day', '24 hours'],
            ['week', '7 days'],
          ]}
          onChange={setView}
        />
        <Menu
          label="More"
          entries={[
            { label: 'Rename…' },
            { label: 'Copy a link', aside: <Key>u</Key> },
            null,
            { label: 'Delete…', isBad: true },
          ]}
        />
        <Asking />
      </div>
      <Tabs label="Parts" tabs={[tab('Deliveries', true, 1_482), tab('Set-up'), tab('Definition')]} />
      <CopyableLine text="hookmill send github --payload event.json" what="command" isCommand />
      <CopyableBlock what="webhooks/deploys.yaml" text={'authMode: token\nsecretName: DEPLOYS_TOKEN'} />
      <div class="toast" role="status">
        Run queued again{' '}
        <a class="btn small" href="#/">
          Open
        </a>
      </div>
    </Part>
  );
}

function Asking() {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <button type="button" class="btn small" onClick={() => setAsking(true)}>
        Disable…
      </button>
      {isAsking && (
        <Question
          title="Disable stripe?"
          keep="Keep it"
          act="Disable stripe"
          acting="Disabling…"
          isDangerous
          onAct={async () => undefined}
          onClose={() => setAsking(false)}
        >
          <p>Stripe gets 404 for every delivery from now on. It sent 235 in the last 24 hours.</p>
        </Question>
      )}
    </>
  );
}

function Lists() {
  return (
    <>
      <Part title="Loading: after 300 ms, in the shape of what comes">
        <Waiting error={undefined} reload={() => undefined} what="rows" />
      </Part>
      <Part title="Nothing found">
        <Empty title="No delivery of today contains “refnd”.">
          <p>4,812 were searched.</p>
        </Empty>
      </Part>
    </>
  );
}

function Notices() {
  const range = { start: { line: 3, column: 5 }, end: { line: 3, column: 9 } };
  return (
    <Part title="Notices: the cause, what holds, one step">
      {(['bad', 'warn', undefined] as const).map(tone => (
        <Notice
          key={tone}
          {...(tone && { tone })}
          cause="The signature is right, but 15 min old."
          more="Compare the clocks."
          action={
            <button type="button" class="btn small">
              See the rejected
            </button>
          }
        />
      ))}
      <ProblemNotice error={new Error('the disk is full')} retry={() => undefined} />
      <Diagnostics
        diagnostics={[
          {
            ...{ code: 'yaml/unreadable', severity: 'error', file: 'webhooks/a.yaml', range },
            ...{ message: 'Unknown key', hint: 'Did you mean authMode?' },
          },
        ]}
      />
    </Part>
  );
}

function Paths() {
  const took = { from: 0.3, length: 0.4 };
  return (
    <Part title="The path, down and across">
      <Path
        label="A run"
        steps={[
          { key: 'received', sign: 'done', title: 'Received', at: <ClockTime at={ago(90_000)} /> },
          { key: 'first', sign: 'failed', title: 'Attempt 1', more: 'boom: cannot reach api', took },
          { key: 'second', sign: 'running', title: 'Attempt 2', stage: 'now' },
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
    </Part>
  );
}

function Filters() {
  const cell = (verdict: 'match' | 'near' | 'no', index: number) => ({
    ...{ id: String(index), verdict, href: '#', title: `Delivery ${index}: ${verdict}` },
  });
  return (
    <Part title="Filters">
      <Clauses
        rows={[
          { path: '$.action', operator: 'in', allowed: 'failed', found: 'failed', verdict: 'holds' },
          {
            path: '$.ref',
            operator: 'like',
            allowed: 'refs/*',
            found: 'did you mean heads/*?',
            verdict: 'near',
          },
          { path: '$.size', operator: 'compare', allowed: 'above 3', found: '2', verdict: 'fails' },
        ]}
      />
      <Cells
        label="The last 12 deliveries"
        cells={Array.from({ length: 12 }, (_, index) =>
          cell((['match', 'near', 'no'] as const)[index % 3] ?? 'no', index),
        )}
      />
    </Part>
  );
}

function Texts() {
  return (
    <Part title="Texts">
      <Facts>
        <Fact term="ID">
          <Id id={id} />
        </Fact>
        <Fact term="Size">
          <Size bytes={1_500_000} />
        </Fact>
        <Fact term="Arrived">
          <ClockTime at={ago(60_000)} />, <Time at={ago(60_000)} />
        </Fact>
        <Fact term="Failing since">
          <Since at={ago(18 * 60_000)} />; last week <Moment at={ago(150 * hour)} />
        </Fact>
      </Facts>
    </Part>
  );
}

const root = document.getElementById('app');
if (root) render(<Components />, root);
