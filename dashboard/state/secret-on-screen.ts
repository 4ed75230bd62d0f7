import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/**
 * Whether a secret is on the screen that cannot be shown again. Until the user has stored it, the page stays: it follows
 * neither the address nor the end of the session.
 */
export const secretOnScreen = signal(false);

/** Keeps the page while the component is on it. The browser asks before it reloads or closes the page. */
export function useSecretOnScreen(): void {
  useLayoutEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    secretOnScreen.value = true;
    addEventListener('beforeunload', ask);
    return () => {
      secretOnScreen.value = false;
      removeEventListener('beforeunload', ask);
    };
  }, []);
}
