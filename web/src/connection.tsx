// One connection: its transfers, why each was slow, and what happened in time.

import { useMemo } from "preact/hooks";
import { endpoint, mainTransfer, range } from "./analysis";
import type { Content } from "./document";
import { FindingCard } from "./finding";
import { bytes, count, rate, roundBytes, thousands, time } from "./format";
import { frameTime } from "./frames";
import type { Go, State } from "./hash";
import { Cause, Term } from "./help";
import { limitInfo } from "./limits";
import type { Connection, Direction, Frame, Transfer } from "./model";
import { Tracks } from "./tracks";
import { Waterfall } from "./waterfall";

interface Props {
  content: Content;
  connection: Connection;
  view: State;
  go: Go;
  help: (slug: string) => void;
  local: boolean;
}

export function ConnectionView({ content, connection, view, go, help, local }: Props) {
  const index = (view.transfer ?? mainTransfer(connection) + 1) - 1;
  const transfer = connection.transfers[index];
  // Made once for each transfer: a zoom, which is in the address and so comes through here, changes
  // nothing of it.
  const [above, beside] = useMemo(() => {
    const show = (list: Frame[]) => {
      const zoom = zoomTo(connection, list);
      if (zoom) go({ zoom });
      document.getElementById("tracks")?.scrollIntoView({ block: "nearest", behavior: "smooth" });
    };
    const part = { content, connection, transfer, go, help };
    return [<Head {...part} index={index} />, <Reasons {...part} show={show} />];
  }, [content, connection, transfer, index, go, help]);
  return (
    <main class="connection">
      {above}
      <div class="split">
        {beside}
        <Tracks
          content={content}
          connection={connection}
          transfer={transfer ?? null}
          view={view}
          go={go}
          local={local}
        />
      </div>
    </main>
  );
}

interface Part {
  content: Content;
  connection: Connection;
  transfer: Transfer | undefined;
  go: Go;
  help: (slug: string) => void;
}

function Head({ content, connection, index, transfer, go, help }: Part & { index: number }) {
  const several = content.analysis.captures.length > 1;
  return (
    <>
      <nav class="crumbs" aria-label="Where this is">
        <a
          href="#"
          onClick={(event) => {
            event.preventDefault();
            go({ connection: null, transfer: null, zoom: null, graph: null, from: null });
          }}
        >
          {count(content.connections_total, "connection")}
        </a>
        <span aria-hidden="true">›</span>
        <b>connection {connection.id}</b>
        {several && <span class="dim">in {content.analysis.captures[connection.capture]?.path}</span>}
      </nav>
      <h1 class="ends">
        {endpoint(connection.client)}{" "}
        <span role="img" aria-label="to">
          →
        </span>{" "}
        {endpoint(connection.server)}
      </h1>
      <Facts connection={connection} />
      {connection.exchanges_total > 1 && <Exchanges connection={connection} index={index} go={go} />}
      {connection.transfers.length > 1 && (
        <TransferList connection={connection} index={index} go={go} content={content} help={help} />
      )}
      {transfer && (
        <section class="verdict" aria-label="Verdict">
          <h2 class={transfer.findings.length === 0 ? "good" : ""}>{transfer.verdict}</h2>
          <p>
            {transfer.label && <>{transfer.label}: </>}
            {bytes(transfer.bytes)} from the {transfer.from} in {time(transfer.duration_s)} = {rate(transfer.rate_bps)}
            {transfer.first_byte_s !== null && <>, first readable byte after {time(transfer.first_byte_s)}</>}
          </p>
          <Waterfall transfer={transfer} select={(zoom) => go({ zoom })} />
        </section>
      )}
    </>
  );
}

function Reasons({ content, connection, transfer, go, help, show }: Part & { show: (frames: Frame[]) => void }) {
  return (
    <div class="reasons">
      {transfer?.findings.map((finding, at) => (
        <FindingCard key={at} finding={finding} transfer={transfer} content={content} help={help} show={show} />
      ))}
      {connection.findings.length > 0 && <h2>Over its transfers</h2>}
      {connection.findings.map((finding, at) => (
        <FindingCard key={at} finding={finding} content={content} help={help} show={show} />
      ))}
      {connection.problems.map((problem) => (
        <p key={problem.slug} class="problem">
          <b>
            ! <Cause slug={problem.slug} content={content} help={help} />
          </b>{" "}
          {problem.detail}
        </p>
      ))}
      {transfer && <Rounds transfer={transfer} go={go} />}
      <Directions connection={connection} />
    </div>
  );
}

/** The time that these frames span, with some room; none where no time is known of any. */
function zoomTo(connection: Connection, list: Frame[]): [number, number] | null {
  const times = list.map((frame) => frameTime(connection, frame)).filter((at) => at !== null);
  if (times.length === 0) return null;
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const room = Math.max((to - from) * 0.04, (connection.rtt_ms.min ?? 1) / 2e3, 1e-5);
  return [from - room, to + room];
}

const pair = <T,>(values: [T, T], show: (value: NonNullable<T>) => string) =>
  values.map((value) => (value == null ? "–" : show(value))).join(" / ");

function Facts({ connection }: { connection: Connection }) {
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
        <dd title={connection.near_reason}>{near[connection.near]}</dd>
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
            : `${time(rtt.min / 1e3)} least, ${time((rtt.p50 ?? 0) / 1e3)} typical, ${time((rtt.p95 ?? 0) / 1e3)} 95 %`}
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

/** Who waited for whom: a line an exchange, which leads to its answer. */
function Exchanges({ connection, index, go }: { connection: Connection; index: number; go: Go }) {
  const more = connection.exchanges_total - connection.exchanges.length;
  const some = (seconds: number | null) => (seconds === null || seconds < 1e-3 ? "–" : time(seconds));
  return (
    <section class="scroll short" aria-label="Exchanges of this connection" tabIndex={0}>
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">
              <Term of="exchange" />
            </th>
            <th scope="col">start</th>
            <th scope="col">request</th>
            <th scope="col">answer</th>
            <th scope="col">waited</th>
            <th scope="col">of it server</th>
            <th scope="col">before: client</th>
            <th scope="col">idle</th>
            <th scope="col" class="text">
              carries
            </th>
          </tr>
        </thead>
        <tbody>
          {connection.exchanges.map((exchange, at) => {
            const transfer = exchange.transfers.at(-1);
            const open = () => transfer !== undefined && go({ transfer: transfer + 1, zoom: null, from: null });
            return (
              <tr key={at} class={exchange.transfers.includes(index) ? "chosen" : ""} onClick={open}>
                <td>
                  <button
                    type="button"
                    class="open"
                    disabled={transfer === undefined}
                    aria-label={`Exchange ${at + 1}`}
                    onClick={(event) => {
                      event.stopPropagation();
                      open();
                    }}
                  >
                    {at + 1}
                  </button>
                </td>
                <td>{time(exchange.start_s)}</td>
                <td>{exchange.request ? thousands(exchange.request.bytes) : "push"}</td>
                <td>{exchange.answer ? thousands(exchange.answer.bytes) : "none"}</td>
                <td>{time(exchange.wait_s)}</td>
                <td>{some(exchange.server_s)}</td>
                <td>{some(exchange.client_s)}</td>
                <td>{some(exchange.idle_s)}</td>
                <td class="text">{exchange.request?.label ?? exchange.answer?.label ?? ""}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {more > 0 && <p class="dim">{count(more, "exchange")} with shorter waits not listed.</p>}
    </section>
  );
}

function TransferList({
  connection,
  index,
  go,
  content,
  help,
}: {
  connection: Connection;
  index: number;
  go: Go;
  content: Content;
  help: (slug: string) => void;
}) {
  const more = connection.transfers_total - connection.transfers.length;
  return (
    <section class="scroll short" aria-label="Transfers of this connection" tabIndex={0}>
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">transfer</th>
            <th scope="col" class="text">
              from
            </th>
            <th scope="col">start</th>
            <th scope="col">bytes</th>
            <th scope="col">took</th>
            <th scope="col">rate</th>
            <th scope="col" class="text">
              held back by
            </th>
            <th scope="col" class="text">
              carries
            </th>
          </tr>
        </thead>
        <tbody>
          {connection.transfers.map((transfer, at) => (
            <tr
              key={at}
              class={at === index ? "chosen" : ""}
              onClick={() => go({ transfer: at + 1, zoom: null, from: null })}
            >
              <td>
                <button
                  type="button"
                  class="open"
                  aria-pressed={at === index}
                  aria-label={`Transfer ${at + 1}`}
                  onClick={(event) => {
                    event.stopPropagation();
                    go({ transfer: at + 1, zoom: null, from: null });
                  }}
                >
                  {at + 1}
                </button>
              </td>
              <td class="text">{transfer.from}</td>
              <td>{time(transfer.start_s)}</td>
              <td>{thousands(transfer.bytes)}</td>
              <td>{time(transfer.duration_s)}</td>
              <td>{rate(transfer.rate_bps)}</td>
              <td class="text">
                {transfer.findings[0] ? <Cause slug={transfer.findings[0].cause} content={content} help={help} /> : "–"}
              </td>
              <td class="text">{transfer.label ?? ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="dim">{count(more, "shorter transfer")} not listed.</p>}
    </section>
  );
}

function Rounds({ transfer, go }: { transfer: Transfer; go: Go }) {
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
                <span class="name">held </span>by
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

function Directions({ connection }: { connection: Connection }) {
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
          {row(<Term of="duplicate ACKs">duplicate ACKs got</Term>, (direction) => thousands(direction.duplicate_acks))}
          {row(<Term of="zero window">window closed for</Term>, (direction) =>
            direction.zero_window_s > 0 ? time(direction.zero_window_s) : "–",
          )}
          {row(
            <>
              most <Term of="in flight" />
            </>,
            (direction) => roundBytes(direction.max_in_flight),
          )}
          {row(
            <>
              largest <Term of="window" /> faced
            </>,
            (direction) => (direction.max_window === null ? "unknown" : roundBytes(direction.max_window)),
          )}
        </tbody>
      </table>
    </section>
  );
}
