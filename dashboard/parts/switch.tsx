interface Properties {
  readonly label: string;
  readonly on: boolean;
  readonly disabled?: boolean;
  readonly onToggle: (on: boolean) => void;
}

export function Switch({ label, on, disabled = false, onToggle }: Properties) {
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={on}
      aria-disabled={disabled}
      onClick={() => disabled || onToggle(!on)}
    >
      <span class="track" aria-hidden="true" />
      {label}
    </button>
  );
}
