import type { AuthMode } from '../../../schema/auth-mode.ts';

const modes = [
  ['token', 'Bearer token', 'The sender puts a secret in a header. For your own scripts and most tools.'],
  ['url_token', 'URL token', 'The secret is part of the URL. For senders that cannot set a header.'],
  ['signature', 'Provider signature', 'The sender signs each request. GitHub, Stripe, Sentry and many more.'],
] as const;

interface Properties {
  readonly selected: AuthMode;
  readonly onSelect: (mode: AuthMode) => void;
}

export function AuthModeChoice({ selected, onSelect }: Properties) {
  return (
    <fieldset class="choices cards">
      <legend>How the sender authenticates</legend>
      {modes.map(([mode, label, text]) => (
        <label key={mode}>
          <input type="radio" name="mode" checked={selected === mode} onChange={() => onSelect(mode)} />
          <span>
            <strong>{label}</strong>
            <span class="hint">{text}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
