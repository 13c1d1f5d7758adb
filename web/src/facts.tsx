// What is known of a connection: its settings, and what passed in both directions.

import { count, roundBytes, thousands, time } from "./format";
import { Term } from "./help";
import type { Connection, Direction, Quic } from "./model";
import { t, word } from "./texts";
import { vantageOf } from "./words";

const pair = <T,>(values: [T, T], show: (value: NonNullable<T>) => string) =>
  values.map((value) => (value == null ? "–" : show(value))).join(" / ");

export function Facts({ connection }: { connection: Connection }) {
  const { handshake, rtt_ms: rtt } = connection;
  const yes = (value: boolean) => (value ? t`yes` : t`no`);
  const near = {
    client: t`next to the client`,
    server: t`next to the server`,
    middle: t`between the ends`,
    unknown: t`at an unknown place`,
  };
  return (
    <dl class="facts">
      <div>
        <dt>{t`captured`}</dt>
        <dd title={vantageOf(connection)}>{near[connection.near]}</dd>
      </div>
      <div>
        <dt>{t`state`}</dt>
        <dd>
          {connection.closed_by
            ? t`${word(connection.state)} by the ${word(connection.closed_by)}`
            : word(connection.state)}
        </dd>
      </div>
      <div>
        <dt>
          <Term of="RTT" />
        </dt>
        <dd>
          {rtt.min === null
            ? t`unknown`
            : rtt.p50 === null
              ? time(rtt.min / 1e3)
              : t`minimum ${time(rtt.min / 1e3)}, median ${time(rtt.p50 / 1e3)}, p95 ${time((rtt.p95 ?? 0) / 1e3)}`}
        </dd>
      </div>
      {connection.lookup && (
        <div>
          <dt>name lookup</dt>
          <dd>
            {connection.lookup.name}: {time(connection.lookup.duration_s)} until {connection.lookup.server} answered,{" "}
            {connection.lookup.queries === 1 ? "1 query" : `${thousands(connection.lookup.queries)} queries`}
            {connection.lookup.unanswered > 0 && `, ${thousands(connection.lookup.unanswered)} without a response`}
          </dd>
        </div>
      )}
      {connection.quic ? (
        <QuicFacts quic={connection.quic} />
      ) : handshake ? (
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
          <dt>{t`handshake`}</dt>
          <dd>{t`not captured: windows are unknown`}</dd>
        </div>
      )}
    </dl>
  );
}

/** What the handshake of QUIC shows without keys. */
function QuicFacts({ quic }: { quic: Quic }) {
  const window = quic.client.initial_max_data;
  const notes = [
    quic.retry && t`the server asked for a proof of the address (Retry), one round trip more`,
    quic.version_negotiation && t`the versions were negotiated, one round trip more`,
    quic.initial_retransmissions > 0 && t`first packet sent again ${count(quic.initial_retransmissions, "time")}`,
    quic.amplification_wait_s > 0 &&
      t`the server had sent three times what it had received, and waited ${time(quic.amplification_wait_s)}`,
    quic.migrations > 0 && t`the client’s address or port changed ${count(quic.migrations, "time")}`,
  ].filter(Boolean);
  return (
    <>
      <div>
        <dt>QUIC</dt>
        <dd>
          {t`version ${quic.version === 1 ? 1 : 2}`}
          {quic.alpn.length > 0 && t`, offers ${quic.alpn.join(", ")}`}
        </dd>
      </div>
      {window != null && (
        <div>
          <dt>{t`client’s first window`}</dt>
          <dd>{roundBytes(window)}</dd>
        </div>
      )}
      {notes.length > 0 && (
        <div>
          <dt>{t`handshake`}</dt>
          <dd>{notes.join("; ")}</dd>
        </div>
      )}
      <div>
        <dt>{t`encrypted`}</dt>
        <dd>{t`acknowledgements, windows, losses`}</dd>
      </div>
    </>
  );
}

export function Directions({ connection }: { connection: Connection }) {
  const [up, down] = connection.directions;
  if (!up || !down) return null;
  const isTcp = !connection.quic;
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
      <h2 id="ways">{t`Both directions`}</h2>
      <table class="evidence ways">
        <thead>
          <tr>
            <td />
            <th scope="col">{t`client sent`}</th>
            <th scope="col">{t`server sent`}</th>
          </tr>
        </thead>
        <tbody>
          {row(t`bytes`, (direction) => thousands(direction.bytes))}
          {row(t`packets`, (direction) => thousands(direction.packets))}
          {isTcp && row(<Term of="retransmitted" />, sent)}
          {isTcp && row(<Term of="out of order" />, (direction) => thousands(direction.out_of_order))}
          {isTcp &&
            row(<Term of="duplicate ACKs">{t`duplicate ACKs received`}</Term>, (direction) =>
              thousands(direction.duplicate_acks),
            )}
          {isTcp &&
            row(<Term of="zero window">{t`window closed for`}</Term>, (direction) =>
              direction.zero_window_s > 0 ? time(direction.zero_window_s) : "–",
            )}
          {row(<Term of="in flight">{t`maximum in flight`}</Term>, (direction) => roundBytes(direction.max_in_flight))}
          {isTcp &&
            row(<Term of="window">{t`largest window offered`}</Term>, (direction) =>
              direction.max_window === null ? t`unknown` : roundBytes(direction.max_window),
            )}
        </tbody>
      </table>
    </section>
  );
}
