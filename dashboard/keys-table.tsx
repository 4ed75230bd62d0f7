import { Button, Key } from './parts/controls.tsx';
import { Dialog } from './parts/dialog.tsx';
import { keysShown, singleKeys, switchSingleKeys } from './state/keyboard.ts';

/** What each key does. Those that belong together share a row; ` / ` stands between keys that do the same. */
const keys: readonly (readonly [keys: string, does: string])[] = [
  ['/ or Ctrl K', 'Jump to a name, an ID, a page or a text in payloads'],
  ['g o', 'Overview'],
  ['g w', 'Webhooks'],
  ['g a', 'Automations'],
  ['g d', 'Deliveries'],
  ['g r', 'Runs'],
  ['g s', 'Settings'],
  ['g f', 'Switch the factory'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter or o', 'Open the row on its own page'],
  ['Esc', 'Close, clear the search, or go back to the list'],
  ['f', 'Go to the filters'],
  ['c', 'Copy the ID'],
  ['u', 'Copy a link'],
  ['Shift R', 'Replay or retry, which asks first'],
  ['[', 'Previous tab'],
  [']', 'Next tab'],
  ['t', 'Times in UTC or local'],
  ['Ctrl Enter', 'Review the changes (editor)'],
  ['Ctrl Space', 'Complete (editor)'],
  ['?', 'This table'],
];

/** The table of keys, with the switch for single ones (WCAG 2.1.4). */
export function KeysTable() {
  const close = () => {
    keysShown.value = false;
  };
  return (
    <Dialog title="Keyboard" onClose={close}>
      <label class="choice">
        <input type="checkbox" checked={singleKeys.value} onChange={switchSingleKeys} />
        <span>Single keys</span>
        <span class="hint">Without them, only those with Ctrl, Enter and Esc do something.</span>
      </label>
      <table class="edge keys">
        <thead class="unseen">
          <tr>
            <th scope="col">Keys</th>
            <th scope="col">What they do</th>
          </tr>
        </thead>
        <tbody>
          {keys.map(([names, does]) => (
            <tr key={names}>
              <td class="nowrap">
                {names.split(' ').map(name => (name === 'or' ? ' or ' : <Key key={name}>{name}</Key>))}
              </td>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions">
        <Button label="Close" onClick={close} />
      </div>
    </Dialog>
  );
}
