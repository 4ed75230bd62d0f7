/** Copies text. Without TLS, browsers hide the clipboard from scripts, so it copies a selection instead. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

function copySelection(text: string): boolean {
  const holder = document.createElement('span');
  holder.textContent = text;
  holder.className = 'copied';
  // While a dialog is open, nothing outside of it can be selected.
  (document.activeElement?.closest('dialog') ?? document.body).append(holder);
  getSelection()?.selectAllChildren(holder);
  const copied = document.execCommand('copy');
  getSelection()?.removeAllRanges();
  holder.remove();
  return copied;
}
