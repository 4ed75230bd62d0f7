/** The result of one check of `hookmill doctor`. */
export interface Symptom {
  readonly subject: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly text: string;
  /** Absent if nothing needs to be done. */
  readonly remedy?: string;
}

export function fine(subject: string, text: string): Symptom {
  return { subject, state: 'ok', text };
}

export function warning(subject: string, text: string, remedy: string): Symptom {
  return { subject, state: 'warning', text, remedy };
}

export function problem(subject: string, text: string, remedy: string): Symptom {
  return { subject, state: 'problem', text, remedy };
}
