// What can be taken along: a filter for Wireshark, a picture, the figures.

import type { Connection } from "../model";
import { lower } from "./scale";
import { type Answer, flagNames } from "./series";

/** A display filter for what is seen of a connection. */
export function filter(connection: Connection, from: number, to: number): string {
  const ends = [connection.client, connection.server];
  const addresses = ends.map(({ address }) => `${address.includes(":") ? "ipv6" : "ip"}.addr == ${address}`);
  const ports = ends.map(({ port }) => `tcp.port == ${port}`);
  const times = [`frame.time_relative >= ${Math.max(0, from).toFixed(6)}`, `frame.time_relative <= ${to.toFixed(6)}`];
  return [...addresses, ...ports, ...times].join(" && ");
}

/** Segments where they are drawn, else columns. */
export function csv(answer: Answer, from: number, to: number): string {
  const { points } = answer;
  const cell = (value: number | null | undefined) => (value == null ? "" : String(value));
  if (points) {
    const lines = [
      "frame,time_s,from,flags,length,seq,ack,window,in_flight,rtt_s,kind,duplicate_ack,duplicate_sack,ce",
    ];
    const [twice, had, marked] = [new Set(points.dup), new Set(points.dsack), new Set(points.ce)];
    for (let at = lower(points.t, from); at < points.t.length && points.t[at]! <= to; at += 1) {
      const kind = points.kind[at] ?? "-";
      lines.push(
        [
          points.frame[at],
          points.t[at],
          points.from[at] === 0 ? "client" : "server",
          flagNames(points.flags[at]!),
          points.len[at],
          cell(points.seq[at]),
          cell(points.ack[at]),
          cell(points.win[at]),
          cell(points.fly[at]),
          cell(points.rtt[at]),
          kind === "-" ? "" : kind,
          twice.has(at) ? 1 : 0,
          had.has(at) ? 1 : 0,
          marked.has(at) ? 1 : 0,
        ].join(","),
      );
    }
    return `${lines.join("\n")}\n`;
  }
  const figures = ["seq", "ack", "edge", "fly", "win", "rtt"] as const;
  const lines = [
    `time_s,data_of,packets,bytes,acked,${figures.flatMap((one) => [`${one}_least`, `${one}_most`]).join(",")}`,
  ];
  answer.lanes.forEach((lane, side) => {
    for (let at = lower(lane.t, from); at < lane.t.length && lane.t[at]! <= to; at += 1) {
      const extremes = figures.flatMap((one) => [cell(lane[one][0][at]), cell(lane[one][1][at])]);
      lines.push(
        [
          lane.t[at],
          side === 0 ? "client" : "server",
          lane.packets[at],
          lane.bytes[at],
          lane.acked[at],
          ...extremes,
        ].join(","),
      );
    }
  });
  return `${lines.join("\n")}\n`;
}

export function save(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
