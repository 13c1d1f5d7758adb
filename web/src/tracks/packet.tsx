// A packet that was clicked: its headers, its verdict, and the packets between it and another one.

import { useEffect, useState } from "preact/hooks";
import { rate, thousands, time } from "../format";
import type { Frame } from "../model";
import type { QueryClient } from "../query-client";
import type { Scene } from "./figure";
import { flagNames } from "./series";

/** A packet, as far as the graphs hold it. */
export interface Picked {
  frame: Frame;
  time: number;
  side: 0 | 1;
  /** Its last byte's place in the sequence space, or what it acknowledges of the data drawn. */
  reach: number | null;
  rows: [string, string][];
  verdict: string;
}

const VERDICTS: Record<string, string> = {
  N: "new data",
  "-": "no data",
  F: "a fast retransmission: duplicate ACKs or SACKs told of the loss",
  T: "a retransmission by the timer: nothing told of the loss before it expired",
  P: "a tail loss probe: the last segments were not acknowledged in time",
  S: "a needless retransmission: the first copy had arrived",
  O: "out of order: later segments overtook it",
  W: "a probe of the closed window",
  K: "a keep-alive",
};

const WRAP = 2 ** 32;

/** Segment `index` of what is drawn. */
export function pick({ answer, lane }: Scene, index: number): Picked | null {
  const points = answer?.points;
  const time = points?.t[index];
  if (!points || time === undefined) return null;
  const side: 0 | 1 = points.from[index] === 0 ? 0 : 1;
  const [seq, ack] = [points.seq[index], points.ack[index]];
  const length = points.len[index] ?? 0;
  const number = (value: number | null | undefined, base: number | null) =>
    value == null ? "unknown" : `${thousands(value)}${base === null ? "" : ` (${(base + value) % WRAP} on the wire)`}`;
  const flags = points.flags[index] ?? 0;
  const sacks = points.sack.filter(([at]) => at === index).map(([, from, to]) => `${thousands(from)}–${thousands(to)}`);
  const rows: [string, string | null][] = [
    ["time", `${time.toFixed(9)} s`],
    ["sent by", side === 0 ? "client" : "server"],
    ["flags", `${flagNames(flags)} (0x${flags.toString(16).padStart(3, "0")})`],
    ["payload", `${thousands(length)} B`],
    ["sequence number", number(seq, answer.base[side])],
    ["next sequence number", seq == null || length === 0 ? null : thousands(seq + length)],
    ["acknowledges", ack == null ? null : number(ack, answer.base[side === 0 ? 1 : 0])],
    ["window offered", points.win[index] == null ? null : `${thousands(points.win[index]!)} B`],
    ["SACK blocks", sacks.length === 0 ? null : sacks.join(", ")],
    ["in flight", points.fly[index] == null ? null : `${thousands(points.fly[index]!)} B`],
    ["round trip measured", points.rtt[index] == null ? null : spoken(points.rtt[index]!)],
  ];
  const kind = points.kind[index] ?? "N";
  const verdict = [
    kind === "-" && flags & 0x10 && !(flags & 0x07) ? "an ACK" : VERDICTS[kind],
    points.dup.includes(index) ? "a duplicate: something is missing before what arrived" : null,
    points.dsack.includes(index) ? "it reports bytes that had come before (D-SACK)" : null,
    points.ce.includes(index) ? "a queue marked it (CE)" : null,
  ];
  return {
    frame: points.frame[index]!,
    time,
    side,
    reach: side === lane ? (seq == null ? null : seq + length) : (ack ?? null),
    rows: rows.filter((row): row is [string, string] => row[1] !== null),
    verdict: verdict.filter(Boolean).join("; "),
  };
}

const spoken = (seconds: number) => time(seconds);

/** What lies between two packets. */
export function between(a: Picked, b: Picked): [string, string][] {
  const span = b.time - a.time;
  const rows: [string, string][] = [["Δt", `${span < 0 ? "−" : ""}${spoken(Math.abs(span))}`]];
  if (a.reach !== null && b.reach !== null) {
    const bytes = b.reach - a.reach;
    rows.push(["Δbytes", `${bytes < 0 ? "−" : ""}${thousands(Math.abs(bytes))} B`]);
    if (span !== 0 && bytes / span > 0) rows.push(["rate", rate((8 * bytes) / span)]);
  }
  return rows;
}

/** What the program reads of a packet's headers. */
interface Detail {
  bytes: number;
  captured: number;
  ttl: number;
  ip_id: number | null;
  ecn: number;
  checksum: string;
  window_field: number;
  mss: number | null;
  window_scale: number | null;
  sack_permitted: boolean;
  timestamps: [number, number] | null;
  fast_open: boolean;
  mptcp: boolean;
}

const ECN = ["not ECN-capable", "ECT(1)", "ECT(0)", "CE"];

function headers(detail: Detail): [string, string][] {
  const options = [
    detail.mss !== null && `MSS ${detail.mss}`,
    detail.window_scale !== null && `window scale ${detail.window_scale}`,
    detail.sack_permitted && "SACK permitted",
    detail.timestamps && `timestamps ${detail.timestamps[0]}, echo ${detail.timestamps[1]}`,
    detail.fast_open && "Fast Open",
    detail.mptcp && "MPTCP",
  ];
  return [
    ["on the wire", `${thousands(detail.bytes)} B, ${thousands(detail.captured)} captured`],
    ["TTL", String(detail.ttl)],
    ...(detail.ip_id === null ? [] : [["IP identification", String(detail.ip_id)] as [string, string]]),
    ["ECN", ECN[detail.ecn] ?? String(detail.ecn)],
    ["checksum", detail.checksum],
    ["window field", thousands(detail.window_field)],
    ["options", options.filter(Boolean).join(", ") || "none"],
  ];
}

export function PacketPanel({
  packet,
  since,
  connection,
  queryClient,
  measure,
  close,
}: {
  packet: Picked;
  /** Where measuring began. */
  since: Picked | null;
  connection: number;
  queryClient: QueryClient | null;
  /** Measuring begins here. */
  measure: () => void;
  close: () => void;
}) {
  const [detail, setDetail] = useState<{ of: Frame; rows: [string, string][] } | null>(null);
  const { frame, time: at } = packet;
  useEffect(() => {
    if (!queryClient) return;
    let wanted = true;
    const number = String(frame).split(":").at(-1);
    queryClient
      .ask(`packet?c=${connection}&frame=${number}&t=${at}`)
      .then(async (answer) => {
        if (answer.ok && wanted) setDetail({ of: frame, rows: headers((await answer.json()) as Detail) });
      })
      .catch(() => undefined);
    return () => {
      wanted = false;
    };
  }, [connection, frame, at, queryClient]);
  const rows = [...packet.rows, ...(detail?.of === frame ? detail.rows : [])];
  return (
    <aside class="packet" aria-label="Packet">
      <header>
        <b>frame {String(frame)}</b> <span>{packet.verdict}</span>
        <button type="button" class="right" onClick={measure} title="Then click another packet: m">
          measure from here
        </button>
        <button type="button" onClick={close} aria-label="Close the packet">
          ×
        </button>
      </header>
      {since && since.frame !== frame && (
        <dl class="measured" aria-label="Measured">
          <div>
            <dt>from frame {String(since.frame)}</dt>
          </div>
          {between(since, packet).map((row) => (
            <Fact key={row[0]} row={row} />
          ))}
        </dl>
      )}
      <dl>
        {rows.map((row) => (
          <Fact key={row[0]} row={row} />
        ))}
      </dl>
    </aside>
  );
}

function Fact({ row: [term, said] }: { row: [string, string] }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{said}</dd>
    </div>
  );
}
