import type { TriggerVerdict } from '../../schema/definitions/judge-trigger.ts';
import { renderNote } from '../../schema/filters/payload-filter-explain.ts';
import { Pill } from './pills.tsx';
import { Code, Text } from './text.tsx';

const operators: Readonly<Record<TriggerVerdict['clauses'][number]['operator'], string>> = {
  in: 'is one of',
  not_in: 'is not one of',
  exists: 'exists',
  like: 'matches one of',
  not_like: 'matches none of',
  compare: 'is a number',
  any_element: 'has',
};

interface Properties {
  readonly verdict: TriggerVerdict;
  /** Warnings about the filter, whatever the delivery. */
  readonly warnings?: readonly { readonly message: string; readonly hint: string }[];
}

/** Whether a delivery would trigger, and why: the webhook, headers, payload, and each clause of the filters. */
export function TriggerVerdictPanel({ verdict, warnings = [] }: Properties) {
  const { wouldTrigger, webhookHolds, payloadHolds, clauses, headers } = verdict;
  return (
    <div class={`verdict ${wouldTrigger ? 'good' : 'bad'}`}>
      <p class="verdict-line">
        <strong>{wouldTrigger ? 'Would trigger' : 'Would not trigger'}</strong>
        <Pill tone={webhookHolds ? 'good' : 'bad'}>
          {webhookHolds ? 'webhook matches' : 'different webhook'}
        </Pill>
        {headers && (
          <Pill tone={headers.holds ? 'good' : 'bad'}>
            {headers.holds ? 'headers match' : 'headers do not match'}
          </Pill>
        )}
        <Pill tone={payloadHolds ? 'good' : 'bad'}>
          {payloadHolds ? 'payload matches' : 'payload does not match'}
        </Pill>
      </p>
      {headers && <Clauses clauses={headers.clauses} />}
      {clauses.length === 0 ? (
        <p class="t3">No payload filter: every {headers ? 'payload' : 'delivery to the webhook'} matches.</p>
      ) : (
        <Clauses clauses={clauses} />
      )}
      {warnings.map(({ message, hint }) => (
        <p key={message} class="hint">
          <Pill tone="warn">warning</Pill> <Text text={message} /> · <Text text={hint} />
        </p>
      ))}
    </div>
  );
}

function Clauses({ clauses }: Pick<TriggerVerdict, 'clauses'>) {
  return (
    <ol class="clauses">
      {clauses.map(clause => (
        <li key={clause.path + clause.operator}>
          <Pill tone={clause.holds ? 'good' : 'bad'}>{clause.holds ? 'passes' : 'fails'}</Pill>
          <span>
            <Code text={clause.path} /> {operators[clause.operator]} <Code text={clause.allowed} />
            <span class="t3"> · found </span>
            <Code text={clause.found} />
            <Text text={renderNote(clause)} />
          </span>
        </li>
      ))}
    </ol>
  );
}
