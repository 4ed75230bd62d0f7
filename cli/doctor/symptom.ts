/** One thing that `hookmill doctor` has looked at. */
export interface Symptom {
  readonly subject: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly text: string;
  /** Absent if nothing needs to be done. */
  readonly remedy?: string;
}
