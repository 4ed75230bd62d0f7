import { signal } from '@preact/signals';

/** The number of things in the current factory that need attention: at *Overview*, and in the title of the window. */
export const attentionCount = signal(0);
