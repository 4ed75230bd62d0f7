/**
 * Makes a function that does `work` one at a time. Each call is answered by work that begins after it, so that no change
 * is missed: calls while work is in progress share what is done next. It rejects as its work does.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const begin = () => {
    next = undefined;
    return work();
  };
  return () => {
    if (!next) {
      next = last.then(begin, begin);
      last = next;
    }
    return next;
  };
}
