import { useState } from 'preact/hooks';
import type { ListedScheme } from '../../api-answers.ts';
import { Button, Finder } from '../../parts/controls.tsx';
import { Monogram } from '../../parts/monogram.tsx';
import { Marked } from '../../parts/text.tsx';
import type { ChosenSender } from '../../state/webhook-draft.ts';
import { findSchemes, oftenUsed, splitProvider } from '../../text/senders.ts';

/** A sender of one's own, with a way to authenticate. */
export const ownSenders = [
  { authMode: 'token', label: 'Bearer token', hint: 'in a header' },
  { authMode: 'url_token', label: 'Token in the URL', hint: 'no header possible' },
  { authMode: 'signature', label: 'HMAC of your own', hint: 'describe it in YAML' },
  { authMode: 'oidc', label: 'OpenID Connect', hint: 'a CI job, no secret' },
] as const;

interface Properties {
  readonly schemes: readonly ListedScheme[];
  readonly chosen: ChosenSender | undefined;
  readonly onChoose: (sender: ChosenSender) => void;
}

/** Chooses who will deliver: finds a provider as the user types, with senders of one's own at the end. */
export function ProviderChoice({ schemes, chosen, onChoose }: Properties) {
  const [sought, setSought] = useState('');
  const [areAll, setAll] = useState(false);
  const isSought = sought.trim() !== '';
  const found = isSought ? findSchemes(schemes, sought) : schemes;
  const often = oftenUsed.flatMap(id => schemes.find(scheme => scheme.id === id) ?? []);
  const isChosen = (id: string) => chosen?.scheme === id;
  const renderScheme = (scheme: ListedScheme) => (
    <SchemeOption
      key={scheme.id}
      scheme={scheme}
      sought={sought.trim()}
      isChosen={isChosen(scheme.id)}
      onChoose={() => onChoose({ authMode: 'signature', scheme: scheme.id })}
    />
  );
  return (
    <fieldset class="field choices provider-choice">
      <legend class="unseen">Provider</legend>
      <Finder
        label={`Find your sender among ${schemes.length} providers`}
        value={sought}
        onInput={setSought}
        onEnter={() => found[0] && isSought && onChoose({ authMode: 'signature', scheme: found[0].id })}
        aside={isSought && `${found.length} of ${schemes.length}`}
      />
      {isSought && <div class="providers">{found.map(renderScheme)}</div>}
      {isSought && found.length === 0 && (
        <p class="hint" role="status">
          No provider with that name. Describe its HMAC yourself, or use a token.
        </p>
      )}
      {!isSought && (
        <>
          <h2>{areAll ? 'All providers' : 'Often used'}</h2>
          <div class="providers">{(areAll ? schemes : often).map(renderScheme)}</div>
          {!areAll && (
            <Button look="small" label={`Show all ${schemes.length}`} onClick={() => setAll(true)} />
          )}
        </>
      )}
      <OwnSenders chosen={chosen} onChoose={onChoose} />
    </fieldset>
  );
}

function OwnSenders({ chosen, onChoose }: Omit<Properties, 'schemes'>) {
  return (
    <>
      <h2>Your own sender</h2>
      <div class="providers">
        {ownSenders.map(({ authMode, label, hint }) => (
          <label key={authMode} class="provider">
            <input
              type="radio"
              class="unseen"
              name="provider"
              checked={chosen?.scheme === null && chosen.authMode === authMode}
              onChange={() => onChoose({ authMode, scheme: null })}
            />
            <OwnMark />
            <span>
              <span class="name">{label}</span>
              <span class="t3 small">{hint}</span>
            </span>
          </label>
        ))}
      </div>
    </>
  );
}

/** Stands for a sender that has no name yet. */
export function OwnMark({ size = 'm' }: { readonly size?: 'm' | 'l' }) {
  return (
    <span class={`tile ${size}`} style={{ '--h': 0, '--c': 0 }} aria-hidden="true">
      {'{}'}
    </span>
  );
}

interface OptionProperties {
  readonly scheme: ListedScheme;
  readonly sought: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function SchemeOption({ scheme: { id, provider, kind }, sought, isChosen, onChoose }: OptionProperties) {
  const [name, form] = splitProvider(provider);
  return (
    <label class="provider">
      <input type="radio" class="unseen" name="provider" checked={isChosen} onChange={onChoose} />
      <Monogram scheme={id} name={name} size="m" />
      <span>
        <span class="name">
          <Marked text={name} sought={sought} />
        </span>
        <span class="t3 small">{form ?? nameKind(kind)}</span>
      </span>
    </label>
  );
}

/** The kind of a provider; `ci` and `ai` are short for something. */
export function nameKind(kind: string): string {
  return kind.length === 2 ? kind.toUpperCase() : kind;
}
