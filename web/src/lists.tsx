// The connections and their transfers, as tables.

import { useMemo } from "preact/hooks";
import { endpoint } from "./analysis";
import { Brush } from "./brush";
import { type Spot, spotText } from "./compare/comparison";
import type { Content } from "./document";
import { rate, roundBytes, share, thousands, time } from "./format";
import { Cause } from "./help";
import { limitClass, limitName } from "./limits";
import type { Connection, Transfer } from "./model";
import { type Query, ranWithin } from "./query";
import type { Row } from "./rows";
import { type Column, Table } from "./table";
import { t, word } from "./texts";
import type { Go } from "./url-state";
import { lang } from "./words";

interface TransferRow {
  connection: Connection;
  transfer: Transfer;
  index: number;
}

const lost = (findings: { cost_s: number }[]) => findings.reduce((sum, finding) => sum + finding.cost_s, 0);

export interface TableProps {
  content: Content;
  /** The lines that the query leaves. */
  rows: Row[];
  query: Query;
  go: Go;
  help: (slug: string) => void;
  pick?: { chosen: Spot[]; toggle: (spot: Spot) => void } | undefined;
}

const has = (spots: Spot[], spot: Spot): boolean => spots.some((one) => spotText(one) === spotText(spot));

/** Most causes named in a line. */
const FEW_CAUSES = 3;

type Show = Pick<TableProps, "content" | "help">;

const causeCells = (causes: string[], { content, help }: Show) =>
  causes.slice(0, FEW_CAUSES).map((cause) => <Cause key={cause} slug={cause} content={content} help={help} />);

/** The time that all connections span. */
function spanOf(rows: Row[]): [number, number] {
  if (rows.length === 0) return [0, 0];
  let [from, to] = [Number.POSITIVE_INFINITY, 0];
  for (const row of rows) {
    from = Math.min(from, row.start);
    to = Math.max(to, row.start + row.duration);
  }
  return [Math.min(from, to), Math.max(to, from + 1e-9)];
}

/** When a connection ran, and what held it back when. */
function Bar({ row, span: [from, to] }: { row: Row; span: [number, number] }) {
  const place = (start: number, seconds: number) => ({
    left: `${(100 * (start - from)) / (to - from)}%`,
    width: `${(100 * seconds) / (to - from)}%`,
  });
  return (
    <span class="lane">
      <i class="span ran" style={place(row.start, row.duration)} />
      {row.spans.map(({ limit, start, seconds }, at) => {
        return (
          <i
            key={at}
            class={`span ${limitClass(limit)}`}
            style={place(start, seconds)}
            title={t`${limitName(limit)}: ${time(seconds)}`}
          />
        );
      })}
    </span>
  );
}

type Rest<R> = Pick<Column<R>, "title" | "level" | "width" | "phone">;

/** A column of figures: sorted by the figure, written by `format`. */
const figures = <R,>(head: string, of: (row: R) => number, format: (value: number) => string, rest: Rest<R>) => ({
  head,
  key: of,
  cell: (row: R) => format(of(row)),
  ...rest,
});

/** A column of text, as it stands in the row. */
const words = <R,>(head: string, of: (row: R) => string, rest: Rest<R>) => ({
  head,
  key: of,
  cell: of,
  isText: true,
  ...rest,
});

/** An IPv4 address with its port; the rest of a phone's width is for the cause. */
const SERVER_ON_PHONE = "6.4rem";

const timeOrDash = (seconds: number): string => (seconds > 0 ? time(seconds) : "–");
const lostTitle = () => t`Time lost, over all findings`;

/** Widths for the longest of these numbers, and a check mark: a fixed layout cuts wider cells. */
function numberWidth(numbers: string[], hasCheck: boolean): Pick<Column<never>, "width" | "phone"> {
  const rem = (hasCheck ? 3.6 : 2) + 0.6 * numbers.reduce((most, one) => Math.max(most, one.length), 1);
  return { width: `${rem.toFixed(1)}rem`, phone: `${(rem - 1).toFixed(1)}rem` };
}

function connectionColumns(
  show: Show & { hasCheck: boolean },
  rows: Row[],
  span: [number, number],
  go: Go,
): Column<Row>[] {
  const rtt = (seconds: number) => (seconds < 0 ? "–" : time(seconds));
  return [
    figures(
      "#",
      (row) => row.id,
      String,
      numberWidth(
        rows.map((row) => String(row.id)),
        show.hasCheck,
      ),
    ),
    words(t`client`, (row) => row.client, { level: 2 }),
    words(t`server`, (row) => row.server, { phone: SERVER_ON_PHONE }),
    figures(t`start`, (row) => row.start, time, {
      title: t`Seconds from the first packet`,
      level: 2,
      width: "5.6rem",
    }),
    figures(t`duration`, (row) => row.duration, time, { level: 1, width: "5.8rem" }),
    figures(t`up`, (row) => row.up, roundBytes, { title: t`Bytes from the client`, level: 3, width: "5.2rem" }),
    figures(t`down`, (row) => row.down, roundBytes, { title: t`Bytes from the server`, level: 1, width: "5.8rem" }),
    figures("RTT", (row) => row.rtt ?? -1, rtt, { title: t`Median round-trip time`, level: 1, width: "5.6rem" }),
    words(t`state`, (row) => word(row.state), { level: 3, width: "6.2rem" }),
    figures(t`lost`, (row) => row.lost, timeOrDash, {
      title: lostTitle(),
      width: "5.4rem",
      phone: "4.3rem",
    }),
    {
      head: t`cause`,
      title: t`What cost most of it`,
      key: (row) => row.causes[0] ?? "",
      isText: true,
      cell: (row) => causeCells(row.causes, show),
    },
    {
      head: t`timeline`,
      title: t`When it ran, and what limited it when; sorted by its beginning`,
      key: (row) => row.start,
      cell: (row) => <Bar row={row} span={span} />,
      scale: <Brush span={span} choose={(from, to) => go({ filter: ranWithin(from, to) })} />,
      isText: true,
      level: 1,
      width: "22%",
    },
  ];
}

/** The order of the terminal. It is not that of the time lost: a session waits for a person, for example. */
const worstFirst = (rows: Row[]): Row[] => [...rows].sort((a, b) => a.rank - b.rank || a.id - b.id);

export function Connections({ content, rows, go, help, pick }: TableProps) {
  const span = useMemo(() => spanOf(rows), [rows]);
  const worst = useMemo(() => worstFirst(rows), [rows]);
  const hasCheck = pick !== undefined;
  const columns = useMemo(
    () => connectionColumns({ content, help, hasCheck }, rows, span, go),
    [content, help, hasCheck, rows, span, go, lang()],
  );
  const open = (row: Row) => go({ connection: row.id, transfer: null, zoom: null });
  const spot = (row: Row): Spot => [row.id, row.largest];
  const check = pick && {
    title: t`Compare its largest transfer`,
    can: (row: Row) => row.largest > 0,
    isChosen: (row: Row) => has(pick.chosen, spot(row)),
    toggle: (row: Row) => pick.toggle(spot(row)),
  };
  return (
    <Table
      rows={worst}
      columns={columns}
      first={null}
      open={open}
      label={t`Connections`}
      name={(row) => t`Connection ${row.id}`}
      {...(check ? { check } : {})}
    />
  );
}

/** As in the list of connections. */
const serverName = (connection: Connection): string => (connection.quic ? "QUIC " : "") + endpoint(connection.server);

const transferName = ({ connection, index }: TransferRow): string => `${connection.id}.${index + 1}`;

function transferColumns(show: Show & { hasCheck: boolean }, rows: TransferRow[]): Column<TransferRow>[] {
  return [
    {
      head: "#",
      key: (row) => row.connection.id * 1e4 + row.index,
      cell: transferName,
      ...numberWidth(rows.map(transferName), show.hasCheck),
    },
    words(t`sender`, (row) => word(row.transfer.from), { level: 1, width: "6.2rem" }),
    words(t`client`, (row) => endpoint(row.connection.client), { level: 3 }),
    words(t`server`, (row) => serverName(row.connection), { phone: SERVER_ON_PHONE }),
    words(t`carries`, (row) => row.transfer.label ?? "", { level: 2 }),
    figures(t`start`, (row) => row.transfer.start_s, time, { level: 2, width: "5.2rem" }),
    figures(t`bytes`, (row) => row.transfer.bytes, thousands, { level: 1, width: "7rem" }),
    figures(t`duration`, (row) => row.transfer.duration_s, time, { level: 1, width: "5.8rem" }),
    {
      head: t`rate`,
      key: (row) => row.transfer.rate_bps ?? 0,
      cell: (row) => rate(row.transfer.rate_bps),
      level: 1,
      width: "7rem",
    },
    figures(t`lost`, (row) => lost(row.transfer.findings), timeOrDash, {
      title: lostTitle(),
      width: "5.4rem",
      phone: "4.3rem",
    }),
    {
      head: t`share`,
      title: t`Share of the worst finding in the transfer’s time`,
      key: worstShare,
      cell: (row) => (row.transfer.findings[0] ? share(worstShare(row)) : "–"),
      level: 1,
      width: "4.5rem",
    },
    {
      head: t`cause`,
      key: (row) => row.transfer.findings[0]?.cause ?? "",
      isText: true,
      cell: ({ transfer }) =>
        causeCells(
          transfer.findings.map((one) => one.cause),
          show,
        ),
    },
  ];
}

const worstShare = ({ transfer }: TransferRow) =>
  Math.min(1, (transfer.findings[0]?.cost_s ?? 0) / (transfer.duration_s || 1));

export function Transfers({ content, rows, go, help, pick }: TableProps) {
  const transfers = useMemo(() => {
    const wanted = new Set(rows.map((row) => row.id));
    return content.analysis.connections
      .filter((connection) => wanted.has(connection.id))
      .flatMap((connection) =>
        connection.transfers.map((transfer, index): TransferRow => ({ connection, transfer, index })),
      );
  }, [content, rows]);
  const hasCheck = pick !== undefined;
  const columns = useMemo(
    () => transferColumns({ content, help, hasCheck }, transfers),
    [content, help, hasCheck, transfers, lang()],
  );
  const open = (row: TransferRow) => go({ connection: row.connection.id, transfer: row.index + 1, zoom: null });
  const spot = (row: TransferRow): Spot => [row.connection.id, row.index + 1];
  const check = pick && {
    title: t`Compare`,
    can: () => true,
    isChosen: (row: TransferRow) => has(pick.chosen, spot(row)),
    toggle: (row: TransferRow) => pick.toggle(spot(row)),
  };
  return (
    <Table
      rows={transfers}
      columns={columns}
      first={9}
      open={open}
      label={t`Transfers`}
      name={(row) => t`Transfer ${transferName(row)}`}
      {...(check ? { check } : {})}
    />
  );
}
