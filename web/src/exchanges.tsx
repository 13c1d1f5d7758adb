// What a connection was asked for and what came: its exchanges and transfers, to choose from.

import { useMemo } from "preact/hooks";
import type { Content } from "./document";
import { count, rate, roundBytes, time } from "./format";
import type { Go } from "./hash";
import { Cause, Term } from "./help";
import type { Connection, Exchange, Transfer } from "./model";

interface Props {
  connection: Connection;
  /** The transfer that is shown. */
  index: number;
  go: Go;
}

/** The steps of an exchange, seconds: what its user waited for in all, and what of it was what. */
function steps({ start_s: start, request, answer, wait_s: whole }: Exchange) {
  const sending = request ? request.duration_s : 0;
  const first = answer ? Math.max(0, answer.start_s - start - sending) : Math.max(0, whole - sending);
  const transfer = answer ? answer.duration_s : 0;
  return { sending, first, transfer };
}

/** Requests and answers: a line each, which leads to its answer. */
export function Exchanges({ connection, index, go }: Props) {
  const more = connection.exchanges_total - connection.exchanges.length;
  const longest = useMemo(() => Math.max(1e-9, ...connection.exchanges.map((one) => one.wait_s)), [connection]);
  return (
    <section aria-labelledby="exchanges">
      <h2 id="exchanges">
        <Term of="exchange">Requests and answers</Term>
      </h2>
      <div class="scroll short" tabIndex={0} role="region" aria-label="Exchanges of this connection">
        <table class="rows exchanges">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col" class="text">
                request
              </th>
              <th scope="col" title="From the end of the request to the answer's first byte">
                wait
              </th>
              <th scope="col" title="From the answer's first byte to its last">
                transfer
              </th>
              <th scope="col" title="Bytes of the answer">
                answer
              </th>
              <th scope="col" class="text steps" title="Sent, waited, transferred; as long as the longest is wide">
                time
              </th>
            </tr>
          </thead>
          <tbody>
            {connection.exchanges.map((exchange, at) => (
              <ExchangeLine key={at} {...{ exchange, at, index, longest, go }} />
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && <p class="dim">{count(more, "exchange")} with shorter waits not listed.</p>}
    </section>
  );
}

function ExchangeLine(props: { exchange: Exchange; at: number; index: number; longest: number; go: Go }) {
  const { exchange, at, index, longest, go } = props;
  const { request, answer } = exchange;
  const transfer = exchange.transfers.at(-1);
  const open = () => transfer !== undefined && go({ transfer: transfer + 1, zoom: null, from: null });
  const { sending, first, transfer: carried } = steps(exchange);
  const wide = (seconds: number) => ({ width: `${(100 * seconds) / longest}%` });
  const details = [
    `started at ${time(exchange.start_s)}`,
    `took ${time(exchange.wait_s)} in all`,
    exchange.server_s !== null ? `server ${time(exchange.server_s)}` : "",
    exchange.client_s > 1e-3 ? `client's own time before ${time(exchange.client_s)}` : "",
    exchange.idle_s > 1e-3 ? `idle ${time(exchange.idle_s)}` : "",
  ];
  return (
    <tr
      class={exchange.transfers.includes(index) ? "chosen" : ""}
      onClick={open}
      title={details.filter(Boolean).join(", ")}
    >
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
      <td class="text">{request ? (request.label ?? roundBytes(request.bytes)) : "server push"}</td>
      <td>{time(first)}</td>
      <td>{answer ? time(carried) : "–"}</td>
      <td>{answer ? roundBytes(answer.bytes) : "none"}</td>
      <td class="steps" aria-hidden="true">
        <i class="setup" style={wide(sending)} />
        <i class="waited" style={wide(first)} />
        <i class="carried" style={wide(carried)} />
      </td>
    </tr>
  );
}

/** All transfers, each of which can be shown. */
export function TransferList({
  connection,
  index,
  go,
  content,
  help,
}: Props & { content: Content; help: (slug: string) => void }) {
  const more = connection.transfers_total - connection.transfers.length;
  return (
    <section aria-labelledby="transfers">
      <h2 id="transfers">
        <Term of="transfer">Transfers</Term>
      </h2>
      <div class="scroll short" tabIndex={0} role="region" aria-label="Transfers of this connection">
        <table class="rows transfers">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col" class="text">
                from
              </th>
              <th scope="col">bytes</th>
              <th scope="col">took</th>
              <th scope="col">rate</th>
              <th scope="col" class="text">
                cause
              </th>
            </tr>
          </thead>
          <tbody>
            {connection.transfers.map((transfer, at) => (
              <TransferLine key={at} {...{ transfer, at, index, go, content, help }} />
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && <p class="dim">{count(more, "shorter transfer")} not listed.</p>}
    </section>
  );
}

function TransferLine(props: {
  transfer: Transfer;
  at: number;
  index: number;
  go: Go;
  content: Content;
  help: (slug: string) => void;
}) {
  const { transfer, at, index, go, content, help } = props;
  const open = () => go({ transfer: at + 1, zoom: null, from: null });
  const [finding] = transfer.findings;
  return (
    <tr
      class={at === index ? "chosen" : ""}
      onClick={open}
      title={[transfer.label, `started at ${time(transfer.start_s)}`].filter(Boolean).join(", ")}
    >
      <td>
        <button
          type="button"
          class="open"
          aria-pressed={at === index}
          aria-label={`Transfer ${at + 1}`}
          onClick={(event) => {
            event.stopPropagation();
            open();
          }}
        >
          {at + 1}
        </button>
      </td>
      <td class="text">{transfer.from}</td>
      <td>{roundBytes(transfer.bytes)}</td>
      <td>{time(transfer.duration_s)}</td>
      <td>{rate(transfer.rate_bps)}</td>
      <td class="text">{finding ? <Cause slug={finding.cause} content={content} help={help} /> : "–"}</td>
    </tr>
  );
}
