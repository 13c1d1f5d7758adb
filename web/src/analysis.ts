// What the page reads off an analysis, and how it names ends and frames.

import type { Connection, Endpoint, Finding, Frame, Quic, Transfer } from "./model";
import { t } from "./texts";

/** A connection's findings, its transfers' and its own. */
export function findingsOf(connection: Connection): Finding[] {
  return [...connection.transfers.flatMap((transfer) => transfer.findings), ...connection.findings];
}

/** What the client's own program takes ranks behind all that was waited for. */
const own = (cause: string) => Number(cause === "client-think");

/** The causes of a connection with the seconds that each cost, the worst first. */
export function causesOf(connection: Connection): [string, number][] {
  const sums = new Map<string, number>();
  for (const finding of findingsOf(connection)) {
    sums.set(finding.cause, (sums.get(finding.cause) ?? 0) + finding.cost_s);
  }
  return [...sums].sort((a, b) => own(a[0]) - own(b[0]) || b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** The transfer that lost most, or else the largest: the one to look at first. */
export function mainTransfer(connection: Connection): number {
  const lost = (transfer: Transfer) => transfer.findings.reduce((sum, finding) => sum + finding.cost_s, 0);
  let best = 0;
  connection.transfers.forEach((transfer, index) => {
    const other = connection.transfers[best];
    if (!other) return;
    const more = lost(transfer) - lost(other);
    if (more > 0 || (more === 0 && transfer.bytes > other.bytes)) best = index;
  });
  return best;
}

/** The transfer that carried most, as the program chooses it. */
export function largestTransfer(connection: Connection): number {
  const most = Math.max(...connection.transfers.map((transfer) => transfer.bytes));
  return connection.transfers.findIndex((transfer) => transfer.bytes === most);
}

/** Its name, or its address, with its port; an IPv6 address in brackets (RFC 5952 section 6). */
export function endpoint({ name, address, port }: Endpoint): string {
  const host = name ?? address;
  // A text may show none.
  if (port === 0) return host;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** What a QUIC connection carries: HTTP/3, if the client prefers it. */
export function protocol(quic: Quic): string {
  return /^h3(-|$)/.test(quic.alpn[0] ?? "") ? "QUIC (HTTP/3)" : "QUIC";
}

/** `frame 7`, `frames 3–9`, `frames 1, 4, 8`: two are a range, as everywhere. */
export function frames(list: Frame[]): string {
  const [first, last] = list;
  if (first === undefined) return "";
  if (list.length === 1 || (list.length === 2 && first === last)) return t`frame ${first}`;
  if (list.length > 2) return t`frames ${list.join(", ")}`;
  return t`frames ${range(first, last ?? first)}`;
}

/** `18–91`, `2:18–91`, `1:900–2:14`. */
export function range(first: Frame, last: Frame): string {
  if (first === last) return String(first);
  const [a, b] = [String(first).split(":"), String(last).split(":")];
  return a.length === 2 && a[0] === b[0] ? `${first}–${b[1]}` : `${first}–${last}`;
}
