// What is known of a connection: its settings, and what passed in both directions.

import { roundBytes, thousands, time } from "./format";
import { Term } from "./help";
import type { Connection, Direction } from "./model";
import { vantageOf } from "./words";

const pair = <T,>(values: [T, T], show: (value: NonNullable<T>) => string) =>
  values.map((value) => (value == null ? "–" : show(value))).join(" / ");

export function Facts({ connection }: { connection: Connection }) {
  const { handshake, rtt_ms: rtt } = connection;
  const yes = (value: boolean) => (value ? "yes" : "no");
  const near = {
    client: "next to the client",
    server: "next to the server",
    middle: "between the ends",
    unknown: "where, cannot be told",
  };
  return (
    <dl class="facts">
      <div>
        <dt>captured</dt>
        <dd title={vantageOf(connection)}>{near[connection.near]}</dd>
      </div>
      <div>
        <dt>state</dt>
        <dd>
          {connection.state}
          {connection.closed_by && ` by the ${connection.closed_by}`}
        </dd>
      </div>
      <div>
        <dt>
          <Term of="RTT" />
        </dt>
        <dd>
          {rtt.min === null
            ? "unknown"
            : `minimum ${time(rtt.min / 1e3)}, median ${time((rtt.p50 ?? 0) / 1e3)}, p95 ${time((rtt.p95 ?? 0) / 1e3)}`}
        </dd>
      </div>
      {handshake ? (
        <>
          <div>
            <dt>
              <Term of="MSS" />
            </dt>
            <dd>{pair(handshake.mss, thousands)}</dd>
          </div>
          <div>
            <dt>
              <Term of="window scale" />
            </dt>
            <dd>{pair(handshake.window_scale, String)}</dd>
          </div>
          <div>
            <dt>
              <Term of="SACK" />
            </dt>
            <dd>{pair(handshake.sack, yes)}</dd>
          </div>
          <div>
            <dt>
              <Term of="timestamps" />
            </dt>
            <dd>{pair(handshake.timestamps, yes)}</dd>
          </div>
        </>
      ) : (
        <div>
          <dt>handshake</dt>
          <dd>not captured: windows are unknown</dd>
        </div>
      )}
    </dl>
  );
}

export function Directions({ connection }: { connection: Connection }) {
  const [up, down] = connection.directions;
  if (!up || !down) return null;
  const row = (label: preact.ComponentChildren, show: (direction: Direction) => string) => (
    <tr>
      <th scope="row">{label}</th>
      <td>{show(up)}</td>
      <td>{show(down)}</td>
    </tr>
  );
  const sent = (direction: Direction) => {
    const { fast, timeout, tail_probe, spurious } = direction.retransmitted;
    const kinds = [
      [fast, "F"],
      [timeout, "T"],
      [tail_probe, "P"],
      [spurious, "S"],
    ].filter(([number]) => number);
    return kinds.length === 0 ? "0" : kinds.map(([number, letter]) => `${number} ${letter}`).join(", ");
  };
  return (
    <section aria-labelledby="ways">
      <h2 id="ways">Both directions</h2>
      <table class="evidence ways">
        <thead>
          <tr>
            <td />
            <th scope="col">client sent</th>
            <th scope="col">server sent</th>
          </tr>
        </thead>
        <tbody>
          {row("bytes", (direction) => thousands(direction.bytes))}
          {row("packets", (direction) => thousands(direction.packets))}
          {row(<Term of="retransmitted" />, sent)}
          {row(<Term of="out of order" />, (direction) => thousands(direction.out_of_order))}
          {row(<Term of="duplicate ACKs">duplicate ACKs received</Term>, (direction) =>
            thousands(direction.duplicate_acks),
          )}
          {row(<Term of="zero window">window closed for</Term>, (direction) =>
            direction.zero_window_s > 0 ? time(direction.zero_window_s) : "–",
          )}
          {row(
            <>
              maximum <Term of="in flight" />
            </>,
            (direction) => roundBytes(direction.max_in_flight),
          )}
          {row(
            <>
              largest <Term of="window" /> offered
            </>,
            (direction) => (direction.max_window === null ? "unknown" : roundBytes(direction.max_window)),
          )}
        </tbody>
      </table>
    </section>
  );
}
