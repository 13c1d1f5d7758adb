// The rounds of a transfer, as a table.

import { useMemo } from "preact/hooks";
import { range } from "./analysis";
import { count, thousands, time } from "./format";
import type { Go } from "./hash";
import { Term } from "./help";
import { limitInfo } from "./limits";
import type { Transfer } from "./model";

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
        <Term of="round">Rounds</Term>
      </h2>
      <div class="scroll rounds" tabIndex={0} role="region" aria-label="Rounds">
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">round</th>
              <th scope="col">sent</th>
              <th scope="col">
                <Term of="in flight" />
              </th>
              <th scope="col">
                <Term of="window" />
              </th>
              <th scope="col">took</th>
              <th scope="col" class="text">
                <span class="name">limited </span>by
              </th>
              <th scope="col" class="text">
                frames
              </th>
            </tr>
          </thead>
          <tbody>
            {transfer.rounds.map((round, at) => {
              const info = limitInfo(round.limit);
              const zoom = () => go({ zoom: [round.start_s, round.start_s + round.duration_s] });
              return (
                <tr key={at} onClick={zoom}>
                  <td>
                    <button
                      type="button"
                      class="open"
                      aria-label={`Zoom to round ${at + 1}`}
                      onClick={(event) => {
                        event.stopPropagation();
                        zoom();
                      }}
                    >
                      {at + 1}
                    </button>
                  </td>
                  <td>{thousands(round.bytes)}</td>
                  <td class="inbar">
                    <i aria-hidden="true" style={{ width: `${(100 * round.in_flight) / most}%` }} />
                    <span>{thousands(round.in_flight)}</span>
                  </td>
                  <td>{round.window === null ? "–" : thousands(round.window)}</td>
                  <td>{time(round.duration_s)}</td>
                  <td class="text" title={info.means}>
                    <i class={`key ${info.group}`} aria-hidden="true">
                      {info.letter}
                    </i>
                    <span class="name">{info.name}</span>
                  </td>
                  <td class="text">{range(round.first_frame, round.last_frame)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {unlisted > 0 && <p class="dim">{count(unlisted, "later round")} not listed.</p>}
    </div>
  );
}
