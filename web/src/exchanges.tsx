// The exchanges and transfers of a connection, to choose from, and its requests by name.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Content } from "./document";
import { count, rate, roundBytes, time } from "./format";
import { Cause, Term } from "./help";
import type { Connection, Exchange, Request, Transfer } from "./model";
import { type ColumnHead, ColumnHeads, RowButton } from "./parts";
import type { Go } from "./url-state";

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

/** A list that is scrolled: its heading, its columns, its rows, and what is not listed. */
function List(props: {
  id: string;
  heading: ComponentChildren;
  heads: ColumnHead[];
  unlisted: string;
  children: ComponentChildren;
}) {
  const { id, heading, heads, unlisted, children } = props;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{heading}</h2>
      <div class="scroll short" tabIndex={0} role="region" aria-label={`${capital(id)} of this connection`}>
        <table class={`rows ${id}`}>
          <thead>
            <tr>
              <ColumnHeads of={heads} />
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
      {unlisted && <p class="dim">{unlisted} not listed.</p>}
    </section>
  );
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const EXCHANGE_HEADS: ColumnHead[] = [
  "#",
  { name: "request", isText: true },
  { name: "wait", title: "From the end of the request to the answer's first byte" },
  { name: "transfer", title: "From the answer's first byte to its last" },
  { name: "answer", title: "Bytes of the answer" },
  { name: "time", title: "Sent, waited, transferred; as long as the longest is wide", isText: true, also: "steps" },
];

/** Requests and answers: a line each, which leads to its answer. */
export function Exchanges({ connection, index, go }: Props) {
  const more = connection.exchanges_total - connection.exchanges.length;
  const longest = useMemo(() => Math.max(1e-9, ...connection.exchanges.map((one) => one.wait_s)), [connection]);
  return (
    <List
      id="exchanges"
      heading={<Term of="exchange">Requests and answers</Term>}
      heads={EXCHANGE_HEADS}
      unlisted={more > 0 ? `${count(more, "exchange")} with shorter waits` : ""}
    >
      {connection.exchanges.map((exchange, at) => (
        <ExchangeLine key={at} {...{ exchange, at, index, longest, go }} />
      ))}
    </List>
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
        <RowButton label={`Exchange ${at + 1}`} open={open} isDisabled={transfer === undefined}>
          {at + 1}
        </RowButton>
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

const REQUEST_HEADS: ColumnHead[] = [
  "#",
  { name: "request", isText: true },
  { name: "status", title: "Status of the response; the error, if it failed" },
  { name: "wait", title: "From the first byte of the request to the last of its response" },
  { name: "bytes", title: "Bytes of the response" },
  {
    name: "time",
    title: "When it was sent, waited for and transferred, from the first request to the last response",
    isText: true,
    also: "steps",
  },
];

const endOf = (request: Request) => request.start_s + (request.wait_s ?? 0);

/** Requests that the payload names: those of one connection may run at the same time. */
export function NamedRequests({ connection, go }: Pick<Props, "connection" | "go">) {
  const requests = connection.requests ?? [];
  const more = (connection.requests_total ?? 0) - requests.length;
  const from = Math.min(...requests.map((one) => one.start_s));
  const to = Math.max(from + 1e-9, ...requests.map(endOf));
  return (
    <List
      id="requests"
      heading="Requests by name"
      heads={REQUEST_HEADS}
      unlisted={more > 0 ? `${count(more, "request")} with shorter waits` : ""}
    >
      {requests.map((request, at) => (
        <RequestLine key={at} {...{ request, at, span: [from, to], go }} />
      ))}
    </List>
  );
}

function RequestLine(props: { request: Request; at: number; span: [number, number]; go: Go }) {
  const { request, at, go } = props;
  const [from, to] = props.span;
  const show = () => {
    const room = Math.max(0.05 * (request.wait_s ?? 0), 1e-4);
    go({ zoom: [request.start_s - room, endOf(request) + room] });
  };
  const part = (seconds: number) => ({ width: `${(100 * seconds) / (to - from)}%` });
  const sent = request.sent_s ?? request.wait_s ?? 0;
  const whole = Math.max(sent, request.wait_s ?? 0);
  const first = Math.min(whole, Math.max(sent, request.headers_s ?? request.first_byte_s ?? whole));
  const details = [
    request.label,
    request.protocol,
    request.stream === null ? "" : `stream ${request.stream}`,
    `started at ${time(request.start_s)}`,
    request.headers_s === null ? "" : `head of the response after ${time(request.headers_s)}`,
    request.first_byte_s === null ? "" : `first byte of its body after ${time(request.first_byte_s)}`,
    request.poll ? "waits for an event, which costs no time" : "",
    request.complete ? "" : "the response is not complete",
  ];
  return (
    <tr onClick={show} title={details.filter(Boolean).join(", ")}>
      <td>
        <RowButton label={`Request ${at + 1}`} open={show}>
          {at + 1}
        </RowButton>
      </td>
      <td class="text">{request.label}</td>
      <td>{request.error ?? request.grpc_status ?? request.status ?? "–"}</td>
      <td>{request.wait_s === null ? "–" : time(request.wait_s)}</td>
      <td>{roundBytes(request.response_bytes)}</td>
      <td class="steps" aria-hidden="true">
        <i style={part(request.start_s - from)} />
        <i class="setup" style={part(sent)} />
        <i class={request.poll ? "" : "waited"} style={part(first - sent)} />
        <i class="carried" style={part(whole - first)} />
      </td>
    </tr>
  );
}

const TRANSFER_HEADS: ColumnHead[] = [
  "#",
  { name: "from", isText: true },
  "bytes",
  "took",
  "rate",
  { name: "cause", isText: true },
];

/** All transfers, each of which can be shown. */
export function TransferList(props: Props & { content: Content; help: (slug: string) => void }) {
  const { connection, index, go, content, help } = props;
  const more = connection.transfers_total - connection.transfers.length;
  return (
    <List
      id="transfers"
      heading={<Term of="transfer">Transfers</Term>}
      heads={TRANSFER_HEADS}
      unlisted={more > 0 ? count(more, "shorter transfer") : ""}
    >
      {connection.transfers.map((transfer, at) => (
        <TransferLine key={at} {...{ transfer, at, index, go, content, help }} />
      ))}
    </List>
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
        <RowButton label={`Transfer ${at + 1}`} open={open} isPressed={at === index}>
          {at + 1}
        </RowButton>
      </td>
      <td class="text">{transfer.from}</td>
      <td>{roundBytes(transfer.bytes)}</td>
      <td>{time(transfer.duration_s)}</td>
      <td>{rate(transfer.rate_bps)}</td>
      <td class="text">{finding ? <Cause slug={finding.cause} content={content} help={help} /> : "–"}</td>
    </tr>
  );
}
