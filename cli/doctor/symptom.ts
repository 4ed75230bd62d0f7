/** One thing that `hookmill doctor` has looked at. */
export interface Symptom {
  readonly subject: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly text: string;
  /** Absent if nothing needs to be done. */
  readonly remedy?: string;
}

export function well(subject: string, text: string): Symptom {
  return { subject, state: 'ok', text };
}

export function warning(subject: string, text: string, remedy: string): Symptom {
  return { subject, state: 'warning', text, remedy };
}

export function wrong(subject: string, text: string, remedy: string): Symptom {
  return { subject, state: 'problem', text, remedy };
}
