/** The verdict on one step of a request's way. */
export interface Judgement {
  /** `unknown`: no request came so far. */
  readonly state: 'ok' | 'wrong' | 'unknown';
  readonly message: string;
  /** The remedy; null unless the step is wrong. */
  readonly remedy: string | null;
  /** More lines, such as the end of a run's output. */
  readonly lines?: readonly string[];
}

export function ok(message: string): Judgement {
  return { state: 'ok', message, remedy: null };
}

export function unknown(message: string): Judgement {
  return { state: 'unknown', message, remedy: null };
}

export function wrong(message: string, remedy: string, lines: readonly string[] = []): Judgement {
  return { state: 'wrong', message, remedy, ...(lines.length > 0 && { lines }) };
}

export function formatTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
