// The steps of a request in time order, each from where the one before ended.

import { t } from "../texts";
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
    [t`DNS lookup`, "setup", times.namelookup_s],
    [t`connect`, "setup", times.connect_s],
    [t`tunnel of the proxy`, "setup", times.tunnel_s],
    [t`TLS handshake`, "setup", times.appconnect_s],
    [sending ? t`request sent` : t`request written`, sending ? "path" : "setup", sent],
    [t`wait for the response`, "setup", times.first_packet_s],
    [t`first TLS record`, "path", times.starttransfer_s],
    [t`response`, "path", times.total_s],
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
