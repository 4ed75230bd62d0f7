import { useState } from 'preact/hooks';
import { renderFlowValue } from '../../../schema/changes/block-lines.ts';
import type { Scalar } from '../../../schema/filters/clause.ts';
import type { DescribedPayloads } from '../../api-answers.ts';
import { ChoiceChip } from '../../parts/chips.tsx';
import { Button, Finder } from '../../parts/controls.tsx';
import { Sec, Table } from '../../parts/tables.tsx';
import { Code, Text } from '../../parts/text.tsx';
import { usePopup } from '../../state/use-popup.ts';
import { namesOf } from '../../state/yaml-completions.ts';
import { formatCount } from '../../text/format-values.ts';

type Field = DescribedPayloads['paths'][number];

/** Most fields that are shown: further ones are found by their name. */
const fieldsShown = 30;
const valuesShown = 4;

interface Properties {
  /** The payloads of the webhooks that the automation selects. */
  readonly payloads: readonly DescribedPayloads[];
  /** The paths on which the automation filters, as `listFilteredFields` lists them. */
  readonly used: ReadonlySet<string>;
  readonly isReadOnly: boolean;
  /** Adds a clause to the trigger of a webhook. */
  readonly onAdd: (uid: string, keys: readonly string[], condition: unknown) => void;
}

/** The fields of payloads that were really sent, and a button that filters on one of them. */
export function PayloadFields({ payloads, used, isReadOnly, onAdd }: Properties) {
  const [sought, setSought] = useState('');
  const [chosen, setChosen] = useState('');
  const shown = payloads.find(({ uid }) => uid === chosen) ?? payloads[0];
  if (!shown || shown.paths.length === 0) return null;
  const found = shown.paths.filter(
    ({ path, examples }) => examples.length > 0 && path.toLowerCase().includes(sought.toLowerCase()),
  );
  const renderAction = (field: Field) => {
    const names = namesOf(field);
    if (used.has(JSON.stringify(names))) return <span class="t3 small">used</span>;
    return !isReadOnly && <AddClause field={field} onAdd={condition => onAdd(shown.uid, names, condition)} />;
  };
  return (
    <section aria-label="Fields of real payloads">
      <Sec title="Fields of real payloads" isWrapped>
        <span class="push">
          {payloads.length > 1 && (
            <ChoiceChip
              label="Webhook"
              value={shown.uid}
              options={payloads.map(({ uid, webhook }) => ({ value: uid, label: webhook }))}
              onChoose={setChosen}
            />
          )}
          <Finder label="Find a field" value={sought} onInput={setSought} />
        </span>
      </Sec>
      <Table
        class="edge fields"
        rows={found.slice(0, fieldsShown)}
        keyOf={({ path }) => path}
        columns={[
          { head: 'Field', look: 'small', cell: ({ path }) => <Code text={path} /> },
          { head: 'Values', look: 't2', cell: field => <Values field={field} /> },
          { head: 'In', class: 'right', look: 't3 small', cell: ({ deliveries }) => deliveries },
          { head: 'Action', class: 'action', cell: renderAction },
        ]}
      />
      {found.length > fieldsShown && (
        <p class="hint">{formatCount(found.length - fieldsShown, 'further field')}: find one by its name.</p>
      )}
      {found.length === 0 && <p class="hint">No field is called that.</p>}
    </section>
  );
}

function Values({ field: { examples, isEnumeration } }: { readonly field: Field }) {
  const values = examples.slice(0, valuesShown).map(renderFlowValue).join(', ');
  return (
    <span class="cut">
      <Text text={values} />
      {(!isEnumeration || examples.length > valuesShown) && ' …'}
    </span>
  );
}

interface AddProperties {
  readonly field: Field;
  readonly onAdd: (condition: unknown) => void;
}

/** Chooses the values that a new clause allows, among those that were sent. */
function AddClause({ field: { path, examples }, onAdd }: AddProperties) {
  const { open, close, button, popup } = usePopup();
  const [chosen, setChosen] = useState<readonly Scalar[]>([]);
  const toggle = (value: Scalar) =>
    setChosen(known => (known.includes(value) ? known.filter(each => each !== value) : [...known, value]));
  const add = (condition: unknown) => {
    close();
    setChosen([]);
    onAdd(condition);
  };
  return (
    <>
      <button type="button" class="link" aria-label={`Add ${path}`} aria-haspopup="dialog" {...button}>
        Add
      </button>
      {open && (
        <div class="menu values" role="dialog" aria-label={`Filter on ${path}`} {...popup}>
          <p class="lead">
            <Code text={path} /> is one of
          </p>
          {examples.map(value => (
            <label key={renderFlowValue(value)} class="choice">
              <input
                type="checkbox"
                data-item
                checked={chosen.includes(value)}
                onChange={() => toggle(value)}
              />
              <Text text={renderFlowValue(value)} />
            </label>
          ))}
          <div class="actions">
            <Button
              look="small"
              label="Add clause"
              disabled={chosen.length === 0}
              onClick={() => add(chosen)}
            />
            <Button look="quiet small" label="Any value" onClick={() => add({ exists: true })} />
          </div>
        </div>
      )}
    </>
  );
}
