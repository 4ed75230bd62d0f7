import { type Span, spans } from '../../text/delivery-bars.ts';

interface Properties {
  readonly span: Span;
  readonly onChange: (span: Span) => void;
}

/** Chooses the time that the charts of a page show. */
export function SpanChoice({ span, onChange }: Properties) {
  return (
    <fieldset class="segments">
      <legend class="unseen">Time in charts</legend>
      {(Object.keys(spans) as Span[]).map(each => (
        <label key={each} class="segment">
          <input type="radio" name="span" checked={each === span} onChange={() => onChange(each)} />
          {spans[each].label}
        </label>
      ))}
    </fieldset>
  );
}
