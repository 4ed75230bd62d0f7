import type { ComponentChildren } from 'preact';
import type { BulkResult } from '../../../schema/clients/act-on-each.ts';
import { refusals } from '../../../schema/refusal.ts';
import { bulkRowsMax, useBulk } from '../../state/use-bulk.ts';
import { Button } from '../controls.tsx';
import { Dialog } from '../dialog.tsx';
import { ProblemNotice } from '../problem-notice.tsx';

/** The words for the action and its rows, as in `Replay` and `replayed`, `delivery` and `deliveries`. */
interface BulkWords {
  readonly verb: string;
  readonly done: string;
  readonly one: string;
  readonly many: string;
}

interface Properties {
  readonly words: BulkWords;
  readonly read: Parameters<typeof useBulk>[0];
  readonly act: (id: string) => Promise<unknown>;
  readonly onClose: () => void;
  /** Says what it means, and asks for choices. */
  readonly children: ComponentChildren;
}

/** Counts rows, asks, and does the same with each. Shows how far it is, and can be stopped. */
export function BulkDialog({ words, read, act, onClose, children }: Properties) {
  const bulk = useBulk(read);
  const { phase, ids, tried, isTooMany, result, error } = bulk;
  const count = (number: number) => `${number} ${number === 1 ? words.one : words.many}`;
  const mayStart = phase === 'ready' && ids.length > 0 && !isTooMany;
  return (
    <Dialog title={`${words.verb} ${words.many}`} onClose={onClose} stays={phase === 'acting'}>
      <div class="stack">
        {phase === 'counting' && error === undefined && (
          <p role="status">Found {count(ids.length)} so far …</p>
        )}
        {phase === 'ready' && (
          <>
            <p>
              {isTooMany
                ? `The filters choose more than ${bulkRowsMax} ${words.many}. Choose a shorter time range, or use the command line.`
                : `The filters choose ${count(ids.length)}.`}
            </p>
            {mayStart && children}
          </>
        )}
        {phase === 'acting' && (
          <p role="status">
            <progress aria-label="Progress" value={tried} max={ids.length} /> {tried} of {count(ids.length)}
          </p>
        )}
        {result && <Result result={result} words={words} total={ids.length} />}
        <ProblemNotice error={error ?? result?.failure} />
      </div>
      <div class="actions end">
        <Button
          label={phase === 'acting' ? 'Stop' : phase === 'over' ? 'Close' : 'Cancel'}
          onClick={phase === 'acting' ? bulk.stop : onClose}
        />
        {mayStart && (
          <Button
            look="primary"
            label={`${words.verb} ${count(ids.length)}`}
            onClick={() => void bulk.start(act)}
          />
        )}
      </div>
    </Dialog>
  );
}

interface ResultProperties {
  readonly result: BulkResult<unknown>;
  readonly words: BulkWords;
  readonly total: number;
}

function Result({ result: { done, refused, rest }, words, total }: ResultProperties) {
  const byCode = [...Map.groupBy(refused, ({ code }) => code)];
  return (
    <div role="status">
      <p>
        {done.length} of {total} {total === 1 ? words.one : words.many} {words.done}.
      </p>
      {byCode.map(([code, rows]) => (
        <p key={code}>
          {rows.length} not {words.done}: {refusals[code]} (<code>{rows[0]?.id}</code>
          {rows.length > 1 && ', …'}).
        </p>
      ))}
      {rest > 0 && <p>With the other {rest}, nothing was tried.</p>}
    </div>
  );
}
