// The exchanges and transfers of a connection, to choose from, and its requests by name.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Content } from "./document";
import { count, rate, roundBytes, time } from "./format";
import { Cause, Term } from "./help";
import type { Connection, Exchange, Request, Transfer } from "./model";
import { type ColumnHead, ColumnHeads, RowButton } from "./parts";
import { t, word } from "./texts";
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
  label: string;
  heading: ComponentChildren;
  heads: ColumnHead[];
  unlisted: string;
  children: ComponentChildren;
}) {
  const { id, label, heading, heads, unlisted, children } = props;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{heading}</h2>
      <div class="scroll short" tabIndex={0} role="region" aria-label={label}>
        <table class={`rows ${id}`}>
          <thead>
            <tr>
              <ColumnHeads of={heads} />
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
      {unlisted && <p class="dim">{unlisted}</p>}
    </section>
  );
}

const exchangeHeads = (): ColumnHead[] => [
  "#",
  { name: t`request`, isText: true },
  { name: t`wait`, title: t`From the end of the request to the response’s first byte` },
  { name: t`transfer`, title: t`From the response’s first byte to its last` },
  { name: t`response`, title: t`Bytes of the response` },
  {
    name: t`time`,
    title: t`Sent, waited, transferred; the longest fills the column`,
    isText: true,
    also: "steps",
  },
];

/** Requests and answers: a line each, which leads to its answer. */
export function Exchanges({ connection, index, go }: Props) {
  const more = connection.exchanges_total - connection.exchanges.length;
  const longest = useMemo(() => Math.max(1e-9, ...connection.exchanges.map((one) => one.wait_s)), [connection]);
  return (
    <List
      id="exchanges"
      label={t`Exchanges of this connection`}
      heading={<Term of="exchange">{t`Requests and responses`}</Term>}
      heads={exchangeHeads()}
      unlisted={more > 0 ? t`${count(more, "exchange")} with shorter waits not listed.` : ""}
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
    t`started at ${time(exchange.start_s)}`,
    t`took ${time(exchange.wait_s)} in all`,
    exchange.server_s !== null ? t`server ${time(exchange.server_s)}` : "",
    exchange.client_s > 1e-3 ? t`client’s own time before ${time(exchange.client_s)}` : "",
    exchange.idle_s > 1e-3 ? t`idle ${time(exchange.idle_s)}` : "",
  ];
  return (
    <tr
      class={exchange.transfers.includes(index) ? "chosen" : ""}
      onClick={open}
      title={details.filter(Boolean).join(", ")}
    >
      <td>
        <RowButton label={t`Exchange ${at + 1}`} open={open} isDisabled={transfer === undefined}>
          {at + 1}
        </RowButton>
      </td>
      <td class="text">{request ? (request.label ?? roundBytes(request.bytes)) : t`server push`}</td>
      <td>{time(first)}</td>
      <td>{answer ? time(carried) : "–"}</td>
      <td>{answer ? roundBytes(answer.bytes) : t`none`}</td>
      <td class="steps" aria-hidden="true">
        <i class="setup" style={wide(sending)} />
        <i class="waited" style={wide(first)} />
        <i class="carried" style={wide(carried)} />
      </td>
    </tr>
  );
}

const requestHeads = (): ColumnHead[] => [
  "#",
  { name: t`request`, isText: true },
  { name: t`status`, title: t`Status of the response; the error, if it failed` },
  { name: t`wait`, title: t`From the first byte of the request to the last of its response` },
  { name: t`bytes`, title: t`Bytes of the response` },
  {
    name: t`time`,
    title: t`When it was sent, waited for and transferred, from the first request to the last response`,
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
      label={t`Requests of this connection`}
      heading={t`Requests by name`}
      heads={requestHeads()}
      unlisted={more > 0 ? t`${count(more, "request")} with shorter waits not listed.` : ""}
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
    request.stream === null ? "" : t`stream ${request.stream}`,
    t`started at ${time(request.start_s)}`,
    request.headers_s === null ? "" : t`head of the response after ${time(request.headers_s)}`,
    request.first_byte_s === null ? "" : t`first byte of its body after ${time(request.first_byte_s)}`,
    request.poll ? t`waits for an event, which costs no time` : "",
    request.complete ? "" : t`the response is not complete`,
  ];
  return (
    <tr onClick={show} title={details.filter(Boolean).join(", ")}>
      <td>
        <RowButton label={t`Request ${at + 1}`} open={show}>
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

const transferHeads = (): ColumnHead[] => [
  "#",
  { name: t`sender`, isText: true },
  t`bytes`,
  t`duration`,
  t`rate`,
  { name: t`cause`, isText: true },
];

/** All transfers, each of which can be shown. */
export function TransferList(props: Props & { content: Content; help: (slug: string) => void }) {
  const { connection, index, go, content, help } = props;
  const more = connection.transfers_total - connection.transfers.length;
  return (
    <List
      id="transfers"
      label={t`Transfers of this connection`}
      heading={<Term of="transfer">{t`Transfers`}</Term>}
      heads={transferHeads()}
      unlisted={more > 0 ? t`${count(more, "shorter transfer")} not listed.` : ""}
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
      title={[transfer.label, t`started at ${time(transfer.start_s)}`].filter(Boolean).join(", ")}
    >
      <td>
        <RowButton label={t`Transfer ${at + 1}`} open={open} isPressed={at === index}>
          {at + 1}
        </RowButton>
      </td>
      <td class="text">{word(transfer.from)}</td>
      <td>{roundBytes(transfer.bytes)}</td>
      <td>{time(transfer.duration_s)}</td>
      <td>{rate(transfer.rate_bps)}</td>
      <td class="text">{finding ? <Cause slug={finding.cause} content={content} help={help} /> : "–"}</td>
    </tr>
  );
}
