import { describeUsage } from '../../schema/clients/describe.ts';
import type { EndToTell, Run } from '../../store/ports/delivery-log.ts';
import { nameProgram } from './render-alert.ts';

/** Renders the body of a message about the end of a run, as docs/on-call.md describes it. */
export function renderRunEnd(
  run: Run,
  state: EndToTell['state'],
  { nowMs, dashboardUrl }: { readonly nowMs: number; readonly dashboardUrl: string },
): string {
  const { id, factory, automation, attempts, error, report } = run;
  const hookmill = nameProgram(factory);
  const said = state === 'failed' ? (error ?? 'without a reason') : report?.message;
  const reason = `${id} of ${automation} ${state}${said === undefined ? '' : `: ${said}`}`;
  const used = report && describeUsage(report);
  const { atMs: _, count: __, ...reported } = report ?? {};
  const data = {
    id,
    status: state,
    summary: used === undefined ? reason : `${reason} (${used})`,
    factory,
    webhook: null,
    automation,
    reason,
    attempts,
    ...(report && { report: reported }),
    remedy:
      state === 'failed'
        ? `Run \`${hookmill} runs show ${id}\`, then \`${hookmill} runs retry ${id}\`.`
        : null,
    link: `${dashboardUrl}/#/${encodeURIComponent(factory)}/runs/${id}`,
  };
  return JSON.stringify({ type: `run.${state}`, timestamp: new Date(nowMs).toISOString(), data });
}
