// The rounds of a transfer, as a table.

import { useMemo } from "preact/hooks";
import { range } from "./analysis";
import { count, thousands, time } from "./format";
import { Term } from "./help";
import { limitInfo, limitMeans, limitName } from "./limits";
import type { Transfer } from "./model";
import { type ColumnHead, ColumnHeads, RowButton } from "./parts";
import { t } from "./texts";
import type { Go } from "./url-state";

const heads = (): ColumnHead[] => [
  t`round`,
  t`sent`,
  { name: <Term of="in flight" /> },
  { name: <Term of="window" /> },
  t`took`,
  {
    name: (
      <>
        <span class="name">{t`limited `}</span>
        {t`by`}
      </>
    ),
    isText: true,
  },
  { name: t`frames`, isText: true },
];

export function Rounds({ transfer, go }: { transfer: Transfer; go: Go }) {
  const most = useMemo(
    () => Math.max(1, ...transfer.rounds.map((round) => Math.max(round.in_flight, round.bytes))),
    [transfer],
  );
  const unlisted = transfer.rounds_total - transfer.rounds.length;
  if (transfer.rounds.length === 0) return null;
  return (
    <div>
      <h2>
        <Term of="round">{t`Rounds`}</Term>
      </h2>
      <div class="scroll rounds" tabIndex={0} role="region" aria-label={t`Rounds`}>
        <table class="rows">
          <thead>
            <tr>
              <ColumnHeads of={heads()} />
            </tr>
          </thead>
          <tbody>
            {transfer.rounds.map((round, at) => {
              const info = limitInfo(round.limit);
              const zoom = () => go({ zoom: [round.start_s, round.start_s + round.duration_s] });
              return (
                <tr key={at} onClick={zoom}>
                  <td>
                    <RowButton label={t`Zoom to round ${at + 1}`} open={zoom}>
                      {at + 1}
                    </RowButton>
                  </td>
                  <td>{thousands(round.bytes)}</td>
                  <td class="inbar">
                    <i aria-hidden="true" style={{ width: `${(100 * round.in_flight) / most}%` }} />
                    <span>{thousands(round.in_flight)}</span>
                  </td>
                  <td>{round.window === null ? "–" : thousands(round.window)}</td>
                  <td>{time(round.duration_s)}</td>
                  <td class="text" title={limitMeans(round.limit)}>
                    <i class={`key ${info.group}`} aria-hidden="true">
                      {info.letter}
                    </i>
                    <span class="name">{limitName(round.limit)}</span>
                  </td>
                  <td class="text">{range(round.first_frame, round.last_frame)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {unlisted > 0 && <p class="dim">{t`${count(unlisted, "later round")} not listed.`}</p>}
    </div>
  );
}
