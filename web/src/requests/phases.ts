// The steps of a request in time order, each from where the one before ended.

import type { Hop } from "./probe";

export interface Phase {
  name: string;
  /** The colour's class, as of the limits' groups. */
  group: "setup" | "path";
  /** Seconds since the hop began. */
  from: number;
  to: number;
}

/** As the terminal names them. */
export function phases({ times, sent_bytes }: Hop): Phase[] {
  const sending = sent_bytes > 0;
  const sent = sending ? (times.sent_s ?? times.posttransfer_s) : times.posttransfer_s;
  const steps: [string, Phase["group"], number | null][] = [
    ["DNS lookup", "setup", times.namelookup_s],
    ["connect", "setup", times.connect_s],
    ["tunnel of the proxy", "setup", times.tunnel_s],
    ["TLS handshake", "setup", times.appconnect_s],
    [sending ? "request sent" : "request written", sending ? "path" : "setup", sent],
    ["wait for the answer", "setup", times.first_packet_s],
    ["first TLS record", "path", times.starttransfer_s],
    ["answer", "path", times.total_s],
  ];
  const found: Phase[] = [];
  let from = 0;
  for (const [name, group, at] of steps) {
    if (at === null || !(at > from)) continue;
    found.push({ name, group, from, to: at });
    from = at;
  }
  return found;
}
