import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import automationSchema from '../../../schema/json/automation.schema.json' with { type: 'json' };
import { namePattern } from '../../../schema/name.ts';
import { callApi } from '../../api-client.ts';
import type { ListedRunner, ListedWebhook } from '../../api-types.ts';
import { Question } from '../../parts/dialog.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Text } from '../../parts/text.tsx';
import { listFilteredFields, selectWebhooks } from '../../state/automation-draft.ts';
import { useFactory } from '../../state/current-factory.ts';
import {
  answerLeaving,
  askedAddress,
  changesOnScreen,
  useChangesOnScreen,
} from '../../state/current-location.ts';
import { useKeys } from '../../state/keyboard.ts';
import { useLoad } from '../../state/loading.ts';
import { useAutomationText } from '../../state/use-automation-text.ts';
import type { CompletionSources, SchemaPart } from '../../state/yaml-completions.ts';
import { type AppliedState, AutomationHeading } from './automation-heading.tsx';
import { FilterMatches } from './filter-matches.tsx';
import { PayloadFields } from './payload-fields.tsx';
import { ReviewDialog } from './review-dialog.tsx';
import { RunControl } from './run-control.tsx';
import { RunWithDialog } from './run-with-dialog.tsx';
import { TextPane } from './text-pane.tsx';

interface Properties {
  readonly name: string;
  readonly initial: string;
  /** What is applied; undefined for a new automation. */
  readonly applied?: AppliedState;
  readonly webhooks: readonly ListedWebhook[];
  readonly runners: readonly ListedRunner[];
  /** Stands above the text. */
  readonly lead?: ComponentChildren;
  readonly onChanged: () => void;
  readonly onApplied: () => void;
}

type Open = 'review' | 'run';

/** An automation: its text, how its runs are executed, what it would have started, and what was sent. */
export function AutomationEditor(properties: Properties) {
  const { name, initial, applied, webhooks, runners, lead, onChanged, onApplied } = properties;
  const { mayManage } = useFactory();
  const document = useAutomationText(name, initial);
  const { text, draft, valid, changes, edit } = document;
  const [open, setOpen] = useState<Open>();
  const [failure, setFailure] = useState<unknown>();
  useChangesOnScreen(changes > 0);
  const { selected, unknown } = selectWebhooks(draft.triggers, webhooks);
  const payloads = usePayloads(selected.map(({ uid }) => uid));
  const sources = useSources(webhooks, selected, runners, payloads);
  const isNamed = namePattern.test(name);
  const canReview = mayManage && isNamed && draft.body !== undefined && (changes > 0 || !applied);
  const review = () => canReview && setOpen('review');
  useKeys({ 'Control+Enter': review });
  const addClause = (uid: string, keys: readonly string[], condition: unknown) => {
    const webhook = webhooks.find(each => each.uid === uid)?.name;
    const at = draft.triggers.findIndex(trigger => trigger.webhook === uid || trigger.webhook === webhook);
    edit(['triggers', Math.max(0, at), 'filter', 'payload', ...keys], condition);
  };
  return (
    <div class="page editor">
      <AutomationHeading
        name={name}
        applied={applied}
        changes={changes}
        canRun={mayManage && isNamed && draft.body !== undefined}
        canReview={canReview}
        onDiscard={document.discard}
        onRun={() => setOpen('run')}
        onReview={review}
        onChanged={onChanged}
        onFailed={setFailure}
      />
      <ProblemNotice error={failure} />
      <div class="split">
        <div>
          {lead}
          <TextPane
            name={name}
            document={document}
            isReadOnly={!mayManage}
            sources={sources}
            onReview={review}
          />
          <RunControl
            runs={draft.runs}
            runners={runners}
            fields={sources.fields}
            isReadOnly={!mayManage}
            onEdit={edit}
          />
        </div>
        <div>
          {unknown.map(each => (
            <p key={each} class="said warn">
              There is no webhook <Text text={each} />: its trigger never fires.
            </p>
          ))}
          {valid?.body && (
            <FilterMatches
              triggers={valid.body.triggers}
              isCurrent={draft.body !== undefined}
              isReadOnly={!mayManage}
              onEdit={edit}
            />
          )}
          <PayloadFields
            payloads={payloads}
            used={useMemo(() => listFilteredFields(valid?.body), [valid])}
            isReadOnly={!mayManage || draft.runs === undefined}
            onAdd={addClause}
          />
        </div>
      </div>
      {open === 'review' && draft.body && (
        <ReviewDialog
          name={name}
          text={text}
          body={draft.body}
          base={applied && initial}
          onApplied={() => {
            setOpen(undefined);
            changesOnScreen.value = false;
            document.keep();
            onApplied();
          }}
          onStartAgain={() => {
            setOpen(undefined);
            document.discard();
            onChanged();
          }}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open === 'run' && draft.body && (
        <RunWithDialog
          name={name}
          body={draft.body}
          webhooks={selected.map(({ uid }) => uid)}
          onClose={() => setOpen(undefined)}
        />
      )}
      <LeavingQuestion />
    </div>
  );
}

/** Asks before the page is left with changes. */
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

/** Reads what the payloads of webhooks look like. What cannot be read is left out: it only helps. */
function usePayloads(uids: readonly string[]) {
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
  payloads: ReturnType<typeof usePayloads>,
): CompletionSources {
  return useMemo(
    () => ({
      schema: automationSchema as SchemaPart,
      ...{ webhooks, runners, fields: payloads.flatMap(({ paths }) => paths) },
      headers: [...new Set(selected.flatMap(({ eventHeaders }) => eventHeaders))],
    }),
    [webhooks, runners, payloads, selected.length],
  );
}
