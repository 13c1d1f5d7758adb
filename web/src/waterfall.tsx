// Where a transfer's time went, phase after phase: what went before its first byte, then what held
// it.

import { share, time } from "./format";
import { limitClass, limitInfo, limitMeans, limitName } from "./limits";
import type { Limit, LimitSpan, Transfer } from "./model";
import { t } from "./texts";

/** The phases in time order: those before the first byte end where the transfer begins. */
export function phases(transfer: Transfer): LimitSpan[] {
  const waited = transfer.before.reduce((sum, phase) => sum + phase.seconds, 0);
  let at = transfer.start_s - waited;
  const before = transfer.before.map((phase) => {
    const span = { limit: phase.limit, start_s: at, seconds: phase.seconds };
    at += phase.seconds;
    return span;
  });
  return [...before, ...transfer.timeline];
}

/** One row a limit, in the order in which they came first; a click zooms to it. */
export function Waterfall({ transfer, select }: { transfer: Transfer; select?: (zoom: [number, number]) => void }) {
  const spans = phases(transfer).filter((span) => span.seconds > 0);
  const start = Math.min(transfer.start_s, ...spans.map((span) => span.start_s));
  const whole = transfer.start_s + transfer.duration_s - start;
  if (!(whole > 0)) return null;
  const rows = new Map<Limit, LimitSpan[]>();
  for (const span of spans) rows.set(span.limit, [...(rows.get(span.limit) ?? []), span]);
  return (
    <div class="waterfall" role="table" aria-label={t`Where the time went`}>
      {[...rows].map(([limit, list]) => {
        const info = limitInfo(limit);
        // The sums of the analysis; its list of spans may be cut.
        const spans = [...transfer.before, ...transfer.limits].filter((one) => one.limit === limit);
        const seconds = spans.reduce((sum, one) => sum + one.seconds, 0);
        const zoom = (): [number, number] => {
          const [first, last] = [list[0], list[list.length - 1]];
          return first && last ? [first.start_s, last.start_s + last.seconds] : [start, start + whole];
        };
        return (
          <div role="row" key={limit} title={limitMeans(limit)}>
            <span role="rowheader">
              <i class={`key ${info.group}`} aria-hidden="true">
                {info.letter}
              </i>
              {limitName(limit)}
            </span>
            <span role="cell" class="lane">
              {list.map((span, index) => (
                <i
                  key={index}
                  class={`span ${limitClass(limit)}`}
                  style={{
                    left: `${(100 * (span.start_s - start)) / whole}%`,
                    width: `${(100 * span.seconds) / whole}%`,
                  }}
                />
              ))}
              {select && (
                <button type="button" aria-label={t`Zoom to ${limitName(limit)}`} onClick={() => select(zoom())} />
              )}
            </span>
            <span role="cell" class="number">
              {time(seconds)}
            </span>
            <span role="cell" class="number dim">
              {share(seconds / whole)}
            </span>
          </div>
        );
      })}
    </div>
  );
}
