/** Tells the user when webhooks use a new value. */
export const nextApplyNote = 'Run `hookmill apply` for webhooks to use the new value.';
