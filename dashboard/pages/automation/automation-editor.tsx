import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import automationSchema from '../../../schema/json/automation.schema.json' with { type: 'json' };
import { namePattern } from '../../../schema/names.ts';
import type { DescribedPayloads, ListedRunner, ListedWebhook } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Key } from '../../parts/controls.tsx';
import { CopyButton } from '../../parts/copyable.tsx';
import { Question } from '../../parts/dialog.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Sign } from '../../parts/signs.tsx';
import { Text } from '../../parts/text.tsx';
import { listFilteredFields, selectWebhooks } from '../../state/automation-draft.ts';
import { readChange, toDefinitionEdit } from '../../state/clause-change.ts';
import { useFactory } from '../../state/current-factory.ts';
import {
  answerLeaving,
  askedAddress,
  changesOnScreen,
  readQuery,
  useChangesOnScreen,
} from '../../state/current-location.ts';
import { useKeys } from '../../state/keyboard.ts';
import { areSettled, useLoad } from '../../state/loading.ts';
import { useSettled } from '../../state/time.ts';
import { type AutomationText, useAutomationText } from '../../state/use-automation-text.ts';
import type { CompletionSources, SchemaPart } from '../../state/yaml-completions.ts';
import { formatCount } from '../../text/format-values.ts';
import { AutomationHeading, type ShownApplied } from './automation-heading.tsx';
import { FilterMatches, useFilterMatches } from './filter-matches.tsx';
import { PayloadFields } from './payload-fields.tsx';
import { ReviewDialog } from './review-dialog.tsx';
import { RunControlSection } from './run-control.tsx';
import { RunWithDialog } from './run-with-dialog.tsx';
import { YamlEditor } from './yaml-editor.tsx';

interface Properties {
  readonly name: string;
  readonly initial: string;
  /** What is applied; undefined for a new automation. */
  readonly applied?: ShownApplied;
  readonly webhooks: readonly ListedWebhook[];
  readonly runners: readonly ListedRunner[];
  /** Stands above the text. */
  readonly lead?: ComponentChildren;
  readonly onChanged: () => void;
  readonly onApplied: () => void;
}

/** Makes the change that the address has, once, for the person to review. */
function useAskedChange(edit: AutomationText['edit']): void {
  const query = readQuery();
  useEffect(() => {
    const change = readChange(query);
    const asked = change && toDefinitionEdit(change);
    if (asked) edit(asked.path, asked.value);
  }, []);
}

/** An automation: its text, how its runs are executed, what it would have started, and what was sent. */
export function AutomationEditor(properties: Properties) {
  const { name, initial, applied, webhooks, runners, lead, onChanged, onApplied } = properties;
  const { mayManage } = useFactory();
  const document = useAutomationText(name, initial);
  const { draft, changes } = document;
  const [open, setOpen] = useState<'review' | 'run'>();
  const [failure, setFailure] = useState<unknown>();
  useChangesOnScreen(changes > 0);
  useAskedChange(document.edit);
  // While the text is no YAML, what it last selected stays.
  const { triggers } = draft.runs ? draft : (document.valid ?? draft);
  const { selected, unknown } = selectWebhooks(triggers, webhooks);
  const payloads = usePayloads(selected.map(({ uid }) => uid));
  const sources = useSources(webhooks, selected, runners, payloads);
  const canRun = mayManage && namePattern.test(name) && draft.body !== undefined;
  const canReview = canRun && (changes > 0 || !applied);
  const review = () => canReview && setOpen('review');
  const close = () => setOpen(undefined);
  useKeys({ 'Control+Enter': review });
  const shared = { name, document, isReadOnly: !mayManage };
  return (
    <div class="page editor">
      <AutomationHeading
        {...{ name, applied, changes, canRun, canReview, onChanged, onFailed: setFailure }}
        onDiscard={document.discard}
        onRun={() => setOpen('run')}
        onReview={review}
      />
      <ProblemNotice error={failure} />
      <div class="split">
        <div>
          {lead}
          <TextPane {...shared} sources={sources} onReview={review} />
          <RunControlSection {...shared} runners={runners} fields={sources.fields} />
        </div>
        <WhatWasSent {...shared} {...{ webhooks, unknown, payloads }} />
      </div>
      {open === 'review' && draft.body && (
        <ReviewDialog
          {...{ name, text: document.text, body: draft.body, base: applied && initial, onClose: close }}
          onApplied={() => {
            close();
            changesOnScreen.value = false;
            document.keep();
            onApplied();
          }}
          onStartAgain={() => {
            close();
            document.discard();
            onChanged();
          }}
        />
      )}
      {open === 'run' && draft.body && (
        <RunWithDialog {...{ name, body: draft.body, webhooks: selected, onClose: close }} />
      )}
      <LeavingQuestion />
    </div>
  );
}

interface SentProperties {
  readonly document: AutomationText;
  readonly isReadOnly: boolean;
  readonly webhooks: readonly ListedWebhook[];
  /** What the triggers select that does not exist. */
  readonly unknown: readonly string[];
  readonly payloads: readonly DescribedPayloads[];
}

/** What the automation would have started, and the fields of what was sent. */
function WhatWasSent({ document, isReadOnly, webhooks, unknown, payloads }: SentProperties) {
  const { draft, valid, edit } = document;
  const tested = useFilterMatches(valid?.body?.triggers);
  const used = useMemo(() => listFilteredFields(valid?.body), [valid]);
  const addClause = (uid: string, keys: readonly string[], condition: unknown) => {
    const name = webhooks.find(webhook => webhook.uid === uid)?.name;
    const at = draft.triggers.findIndex(({ webhook }) => webhook === uid || webhook === name);
    edit(['triggers', Math.max(0, at), 'filter', 'payload', ...keys], condition);
  };
  return (
    <div>
      {unknown.map(each => (
        <p key={each} class="said warn">
          There is no webhook <Text text={each} />: its trigger never fires.
        </p>
      ))}
      {valid?.body && (
        <FilterMatches {...{ tested, isReadOnly, onEdit: edit }} isCurrent={draft.body !== undefined} />
      )}
      {(!valid?.body || areSettled(tested)) && (
        <PayloadFields
          {...{ payloads, used, onAdd: addClause }}
          isReadOnly={isReadOnly || draft.runs === undefined}
        />
      )}
    </div>
  );
}

/** Reads what the payloads of webhooks look like. What cannot be read is left out: it only helps. */
function usePayloads(uids: readonly string[]): readonly DescribedPayloads[] {
  const { factory } = useFactory();
  const { value = [] } = useLoad(
    signal =>
      Promise.all(
        uids.map(uid =>
          callApi('get', '/factories/{factory}/webhooks/{uid}/payloads', { factory, uid, signal }),
        ),
      ),
    [factory, uids.join(' ')],
  );
  return value;
}

function useSources(
  webhooks: readonly ListedWebhook[],
  selected: readonly ListedWebhook[],
  runners: readonly ListedRunner[],
  payloads: readonly DescribedPayloads[],
): CompletionSources {
  return useMemo(
    () => ({
      schema: automationSchema as SchemaPart,
      ...{ webhooks, runners, fields: payloads.flatMap(({ paths }) => paths) },
      headers: [...new Set(selected.flatMap(({ eventHeaders }) => eventHeaders))],
    }),
    [webhooks, runners, payloads, selected.map(({ uid }) => uid).join(' ')],
  );
}

/** Asks before a page with changes is left. */
function LeavingQuestion() {
  if (askedAddress.value === undefined) return null;
  return (
    <Question
      title="Leave without applying your changes?"
      keep="Keep editing"
      act="Drop the changes"
      acting="Leaving…"
      isDangerous
      onAct={async () => answerLeaving(true)}
      onClose={() => askedAddress.value !== undefined && answerLeaving(false)}
    >
      <p>They are only on this page.</p>
    </Question>
  );
}

/** Time from the last keystroke to what is said of mistakes, in ms. */
const pauseMs = 400;

interface TextPaneProperties {
  readonly name: string;
  readonly document: AutomationText;
  readonly isReadOnly: boolean;
  readonly sources: CompletionSources;
  readonly onReview: () => void;
}

/** The text of an automation, with its file and whether it is valid. */
function TextPane({ name, document, isReadOnly, sources, onReview }: TextPaneProperties) {
  const { managedHere } = useFactory();
  const { text, draft, setText } = document;
  const diagnostics = useSettled(draft.diagnostics, pauseMs);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return (
    <div class="code">
      <header>
        <span class="mono cut">automations/{name === '' ? '<name>' : name}.yaml</span>
        <span class="push flow" role="status">
          <Sign name={errors === 0 ? 'done' : 'failed'} />
          {errors === 0 ? 'valid' : formatCount(errors, 'mistake')}
        </span>
        {!isReadOnly && (
          <span class="no-phone flow">
            <Key>Ctrl Space</Key> completes
          </span>
        )}
        {!managedHere && <CopyButton text={text} what="file" />}
      </header>
      <YamlEditor
        text={text}
        label="Definition"
        isReadOnly={isReadOnly}
        diagnostics={diagnostics}
        sources={sources}
        onChange={setText}
        onReview={onReview}
      />
    </div>
  );
}
