// A packet that was clicked: its headers, its verdict, and the packets between it and another one.

import { useEffect, useState } from "preact/hooks";
import { rate, thousands, time } from "../format";
import type { Frame } from "../model";
import type { QueryClient } from "../query-client";
import { t, word } from "../texts";
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
  F: "a fast retransmission: duplicate ACKs or SACKs reported the loss",
  T: "a retransmission by the timer: nothing reported the loss before it expired",
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
    value == null
      ? t`unknown`
      : `${thousands(value)}${base === null ? "" : t` (${(base + value) % WRAP} on the wire)`}`;
  const flags = points.flags[index] ?? 0;
  const sacks = points.sack.filter(([at]) => at === index).map(([, from, to]) => `${thousands(from)}–${thousands(to)}`);
  const rows: [string, string | null][] = [
    [t`time`, `${time.toFixed(9)} s`],
    [t`sent by`, side === 0 ? t`client` : t`server`],
    [t`flags`, `${flagNames(flags)} (0x${flags.toString(16).padStart(3, "0")})`],
    [t`payload`, `${thousands(length)} B`],
    [t`sequence number`, number(seq, answer.base[side])],
    [t`next sequence number`, seq == null || length === 0 ? null : thousands(seq + length)],
    [t`acknowledges`, ack == null ? null : number(ack, answer.base[side === 0 ? 1 : 0])],
    [t`window offered`, points.win[index] == null ? null : `${thousands(points.win[index]!)} B`],
    [t`SACK blocks`, sacks.length === 0 ? null : sacks.join(", ")],
    [t`in flight`, points.fly[index] == null ? null : `${thousands(points.fly[index]!)} B`],
    [t`round trip measured`, points.rtt[index] == null ? null : spoken(points.rtt[index]!)],
  ];
  const kind = points.kind[index] ?? "N";
  const verdict = [
    kind === "-" && flags & 0x10 && !(flags & 0x07) ? t`an ACK` : word(VERDICTS[kind] ?? ""),
    points.dup.includes(index) ? t`a duplicate: earlier data is missing` : null,
    points.dsack.includes(index) ? t`it reports bytes that had already arrived (D-SACK)` : null,
    points.ce.includes(index) ? t`a queue marked it (CE)` : null,
  ];
  return {
    frame: points.frame[index]!,
    time,
    side,
    reach: side === lane ? (seq == null ? null : seq + length) : (ack ?? null),
    rows: rows.filter((row): row is [string, string] => row[1] !== null),
    verdict: verdict.filter(Boolean).join(t`; `),
  };
}

const spoken = (seconds: number) => time(seconds);

/** What lies between two packets. */
export function between(a: Picked, b: Picked): [string, string][] {
  const span = b.time - a.time;
  const rows: [string, string][] = [["Δt", `${span < 0 ? "−" : ""}${spoken(Math.abs(span))}`]];
  if (a.reach !== null && b.reach !== null) {
    const bytes = b.reach - a.reach;
    rows.push([t`Δbytes`, `${bytes < 0 ? "−" : ""}${thousands(Math.abs(bytes))} B`]);
    if (span !== 0 && bytes / span > 0) rows.push([t`rate`, rate((8 * bytes) / span)]);
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
    detail.window_scale !== null && t`window scale ${detail.window_scale}`,
    detail.sack_permitted && t`SACK permitted`,
    detail.timestamps && t`timestamps ${detail.timestamps[0]}, echo ${detail.timestamps[1]}`,
    detail.fast_open && "Fast Open",
    detail.mptcp && "MPTCP",
  ];
  return [
    [t`on the wire`, t`${thousands(detail.bytes)} B, ${thousands(detail.captured)} captured`],
    ["TTL", String(detail.ttl)],
    ...(detail.ip_id === null ? [] : [[t`IP identification`, String(detail.ip_id)] as [string, string]]),
    ["ECN", word(ECN[detail.ecn] ?? String(detail.ecn))],
    [t`checksum`, word(detail.checksum)],
    [t`window field`, thousands(detail.window_field)],
    [t`options`, options.filter(Boolean).join(", ") || t`none`],
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
    <aside class="packet" aria-label={t`Packet`}>
      <header>
        <b>{t`frame ${frame}`}</b> <span>{packet.verdict}</span>
        <button type="button" class="right" onClick={measure} title={t`Then click another packet: m`}>
          {t`measure from here`}
        </button>
        <button type="button" onClick={close} aria-label={t`Close the packet`}>
          ×
        </button>
      </header>
      {since && since.frame !== frame && (
        <dl class="measured" aria-label={t`Measured`}>
          <div>
            <dt>{t`from frame ${since.frame}`}</dt>
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
