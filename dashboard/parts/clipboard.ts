/** Copies; on a page without TLS, where the clipboard is closed to scripts, by way of a selection. */
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
  // Outside of an open dialog nothing can be selected.
  (document.activeElement?.closest('dialog') ?? document.body).append(holder);
  getSelection()?.selectAllChildren(holder);
  const copied = document.execCommand('copy');
  getSelection()?.removeAllRanges();
  holder.remove();
  return copied;
}
