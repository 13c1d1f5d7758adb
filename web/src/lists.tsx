// The connections and their transfers, as tables.

import { useMemo } from "preact/hooks";
import { causesOf, endpoint, largestTransfer } from "./analysis";
import { type Spot, spotText } from "./compare/comparison";
import type { Content } from "./document";
import { rate, share, thousands, time } from "./format";
import type { Go } from "./hash";
import { Cause } from "./help";
import type { Connection, Transfer } from "./model";
import { type Column, Table } from "./table";

interface TransferRow {
  connection: Connection;
  transfer: Transfer;
  index: number;
}

const lost = (findings: { seconds: number }[]) => findings.reduce((sum, finding) => sum + finding.seconds, 0);

/** Every word of the filter stands somewhere in the text. */
function matches(text: string, filter: string): boolean {
  const low = text.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}

interface TableProps {
  connections: Connection[];
  filter: string;
  go: Go;
  content: Content;
  help: (slug: string) => void;
  pick?: { chosen: Spot[]; toggle: (spot: Spot) => void } | undefined;
}

const has = (spots: Spot[], spot: Spot): boolean => spots.some((one) => spotText(one) === spotText(spot));

export function Connections({ connections, filter, go, content, help, pick }: TableProps) {
  const spanning = useMemo(() => {
    const found = new Map<number, string[]>();
    for (const finding of content.analysis.findings) {
      for (const id of finding.connections ?? []) found.set(id, [...(found.get(id) ?? []), finding.cause]);
    }
    return found;
  }, [content]);
  const rows = useMemo(
    () =>
      connections.filter((one) => {
        const names = [...causesOf(one).map(([cause]) => cause), ...(spanning.get(one.id) ?? [])];
        return matches(
          [
            endpoint(one.client),
            endpoint(one.server),
            one.client.address,
            one.server.address,
            one.state,
            ...names,
          ].join(" "),
          filter,
        );
      }),
    [connections, filter, spanning],
  );
  const columns = useMemo(
    (): Column<Connection>[] => [
      { head: "#", key: (one) => one.id, cell: (one) => one.id },
      { head: "client", key: (one) => endpoint(one.client), cell: (one) => endpoint(one.client), isText: true },
      { head: "server", key: (one) => endpoint(one.server), cell: (one) => endpoint(one.server), isText: true },
      {
        head: "start",
        title: "Seconds from the first packet",
        key: (one) => one.start_s,
        cell: (one) => time(one.start_s),
      },
      { head: "duration", key: (one) => one.duration_s, cell: (one) => time(one.duration_s) },
      {
        head: "up",
        title: "Bytes from the client",
        key: (one) => one.directions[0]?.bytes ?? 0,
        cell: (one) => thousands(one.directions[0]?.bytes ?? 0),
      },
      {
        head: "down",
        title: "Bytes from the server",
        key: (one) => one.directions[1]?.bytes ?? 0,
        cell: (one) => thousands(one.directions[1]?.bytes ?? 0),
      },
      {
        head: "RTT",
        title: "Median round-trip time",
        key: (one) => one.rtt_ms.p50 ?? -1,
        cell: (one) => (one.rtt_ms.p50 === null ? "–" : time(one.rtt_ms.p50 / 1e3)),
      },
      { head: "state", key: (one) => one.state, cell: (one) => one.state, isText: true },
      {
        head: "lost",
        title: "Time lost, over all findings",
        key: (one) => lost(causesOf(one).map(([, seconds]) => ({ seconds }))),
        cell: (one) => {
          const sum = lost(causesOf(one).map(([, seconds]) => ({ seconds })));
          return sum > 0 ? time(sum) : "–";
        },
      },
      {
        head: "to",
        title: "What cost most of it",
        key: (one) => causesOf(one)[0]?.[0] ?? "",
        isText: true,
        cell: (one) =>
          causesOf(one)
            .slice(0, 3)
            .map(([cause]) => <Cause key={cause} slug={cause} content={content} help={help} />),
      },
    ],
    [content, help],
  );
  const open = (one: Connection) => go({ connection: one.id, transfer: null, zoom: null });
  const spot = (one: Connection): Spot => [one.id, largestTransfer(one) + 1];
  const check = pick && {
    title: "Compare its largest transfer",
    can: (one: Connection) => one.transfers.length > 0,
    isChosen: (one: Connection) => has(pick.chosen, spot(one)),
    toggle: (one: Connection) => pick.toggle(spot(one)),
  };
  return (
    <Table
      rows={rows}
      columns={columns}
      first={9}
      open={open}
      label="Connections"
      name={(one) => `Connection ${one.id}`}
      {...(check ? { check } : {})}
    />
  );
}

export function Transfers({ connections, filter, go, content, help, pick }: TableProps) {
  const rows = useMemo(
    () =>
      connections
        .flatMap((connection) =>
          connection.transfers.map((transfer, index): TransferRow => ({ connection, transfer, index })),
        )
        .filter(({ connection, transfer }) =>
          matches(
            [
              endpoint(connection.client),
              endpoint(connection.server),
              transfer.label ?? "",
              ...transfer.findings.map((one) => one.cause),
            ].join(" "),
            filter,
          ),
        ),
    [connections, filter],
  );
  const columns = useMemo(
    (): Column<TransferRow>[] => [
      {
        head: "#",
        key: (row) => row.connection.id * 1e4 + row.index,
        cell: (row) => `${row.connection.id}.${row.index + 1}`,
      },
      { head: "from", key: (row) => row.transfer.from, cell: (row) => row.transfer.from, isText: true },
      {
        head: "to",
        key: (row) => endpoint(row.connection[row.transfer.from === "client" ? "server" : "client"]),
        cell: (row) => endpoint(row.connection[row.transfer.from === "client" ? "server" : "client"]),
        isText: true,
      },
      {
        head: "carries",
        key: (row) => row.transfer.label ?? "",
        cell: (row) => row.transfer.label ?? "",
        isText: true,
      },
      { head: "start", key: (row) => row.transfer.start_s, cell: (row) => time(row.transfer.start_s) },
      { head: "bytes", key: (row) => row.transfer.bytes, cell: (row) => thousands(row.transfer.bytes) },
      { head: "duration", key: (row) => row.transfer.duration_s, cell: (row) => time(row.transfer.duration_s) },
      { head: "rate", key: (row) => row.transfer.rate_bps ?? 0, cell: (row) => rate(row.transfer.rate_bps) },
      {
        head: "lost",
        title: "Time lost, over all findings",
        key: (row) => lost(row.transfer.findings),
        cell: (row) => (lost(row.transfer.findings) > 0 ? time(lost(row.transfer.findings)) : "–"),
      },
      {
        head: "of it",
        title: "Share of the worst finding in the transfer's time",
        key: (row) => (row.transfer.findings[0]?.seconds ?? 0) / (row.transfer.duration_s || 1),
        cell: (row) =>
          row.transfer.findings[0]
            ? share(Math.min(1, row.transfer.findings[0].seconds / (row.transfer.duration_s || 1)))
            : "–",
      },
      {
        head: "cause",
        key: (row) => row.transfer.findings[0]?.cause ?? "",
        isText: true,
        cell: (row) =>
          row.transfer.findings
            .slice(0, 3)
            .map((one) => <Cause key={one.cause} slug={one.cause} content={content} help={help} />),
      },
    ],
    [content, help],
  );
  const open = (row: TransferRow) => go({ connection: row.connection.id, transfer: row.index + 1, zoom: null });
  const spot = (row: TransferRow): Spot => [row.connection.id, row.index + 1];
  const check = pick && {
    title: "Compare",
    can: () => true,
    isChosen: (row: TransferRow) => has(pick.chosen, spot(row)),
    toggle: (row: TransferRow) => pick.toggle(spot(row)),
  };
  return (
    <Table
      rows={rows}
      columns={columns}
      first={8}
      open={open}
      label="Transfers"
      name={(row) => `Transfer ${row.connection.id}.${row.index + 1}`}
      {...(check ? { check } : {})}
    />
  );
}
