// The list of connections or transfers: its columns, its filter, and the two selected for
// comparison.

import { useMemo, useState } from "preact/hooks";
import { endpoint } from "./analysis";
import { type Spot, spotText } from "./compare/comparison";
import type { Content } from "./document";
import { count, roundBytes, thousands } from "./format";
import { GROUPS, type Group } from "./limits";
import { Connections, Transfers } from "./lists";
import { FIELDS, readQuery } from "./query";
import type { QueryClient } from "./query-client";
import { type Row, rowsOf } from "./rows";
import { t, word } from "./texts";
import type { Go, State } from "./url-state";

interface Props {
  content: Content;
  view: State;
  go: Go;
  help: (slug: string) => void;
  queryClient: QueryClient | null;
}

type Tab = "connections" | "transfers";

export function Listing({ content, view, go, help, queryClient }: Props) {
  const [chosen, setChosen] = useState<Spot[]>([]);
  const [tab, setTab] = useState<Tab>("connections");
  const toggle = (spot: Spot) =>
    setChosen((old) => {
      const others = old.filter((one) => spotText(one) !== spotText(spot));
      // The third one takes the place of the first.
      return others.length < old.length ? others : [...old, spot].slice(-2);
    });
  const all = rowsOf(content);
  const query = useMemo(() => readQuery(view.filter), [view.filter]);
  const rows = useMemo(() => all.filter(query.matches), [all, query]);
  const List = tab === "connections" ? Connections : Transfers;
  return (
    <section aria-label={t`Connections and transfers`}>
      <div class="tablehead">
        <Tabs tab={tab} choose={setTab} />
        <input
          type="search"
          placeholder="rtt>50 cause:loss server:example"
          title={t`Words, or fields: ${FIELDS.join(", ")}; : searches, > < == compare; and, or, not, a minus in front excludes`}
          aria-label={t`Filter`}
          aria-invalid={query.error !== null}
          value={view.filter}
          onInput={(event) => go({ filter: event.currentTarget.value }, true)}
        />
        <span class={query.error === null ? "dim" : "failed"} role="status">
          {query.error ?? listSummary(content, tab, rows, all)}
        </span>
        <Legend />
      </div>
      <List
        content={content}
        rows={rows}
        query={query}
        go={go}
        help={help}
        pick={queryClient ? { chosen, toggle } : undefined}
      />
      {chosen.length > 0 && <Choice chosen={chosen} content={content} go={go} toggle={toggle} />}
    </section>
  );
}

/** How many are listed; of two captures of one connection each is a line. */
function listSummary(content: Content, tab: Tab, rows: Row[], all: Row[]): string {
  const held = content.analysis.connections.length;
  if (tab === "transfers" && held < all.length) return t`of the ${thousands(held)} connections that lost most`;
  const repeats = all.filter((row) => row.repeats).length;
  const twice = repeats > 0 ? t`, ${thousands(repeats)} of them in two captures` : "";
  const total = count(all.length - repeats, "connection") + twice;
  return rows.length === all.length ? total : t`${thousands(rows.length)} of ${total}`;
}

const GROUP_NAMES: Record<Group, string> = {
  setup: "set up, request",
  program: "program",
  window: "window",
  start: "congestion window",
  ack: "ACKs",
  loss: "loss",
  path: "path",
  unknown: "idle, unknown",
};

/** What the colours of the timeline stand for. */
export function Legend() {
  return (
    <span
      class="groups"
      role="img"
      aria-label={t`Colours: ${GROUPS.map((group) => word(GROUP_NAMES[group])).join(", ")}`}
    >
      {GROUPS.map((group) => (
        <span key={group}>
          <i class={`swatch ${group}`} /> {word(GROUP_NAMES[group])}
        </span>
      ))}
    </span>
  );
}

function Tabs({ tab, choose }: { tab: Tab; choose: (tab: Tab) => void }) {
  const one = (name: Tab, label: string) => (
    <button type="button" role="tab" aria-selected={tab === name} onClick={() => choose(name)}>
      {label}
    </button>
  );
  return (
    <div role="tablist" aria-label={t`List`}>
      {one("connections", t`Connections`)}
      {one("transfers", t`Transfers`)}
    </div>
  );
}

/** A transfer in a few words. */
function spotSummary(content: Content, rows: Row[], [id, number]: Spot): string {
  const name = spotText([id, number]);
  const connection = content.analysis.connections.find((one) => one.id === id);
  const transfer = connection?.transfers[number - 1];
  if (connection && transfer)
    return transfer.from === "client"
      ? t`${name}, ${roundBytes(transfer.bytes)} to ${endpoint(connection.server)}`
      : t`${name}, ${roundBytes(transfer.bytes)} from ${endpoint(connection.server)}`;
  const row = rows.find((one) => one.id === id);
  return row ? `${name}, ${row.server}` : name;
}

/** The transfers that were checked, to be compared. */
function Choice({
  chosen,
  content,
  go,
  toggle,
}: {
  chosen: Spot[];
  content: Content;
  go: Go;
  toggle: (spot: Spot) => void;
}) {
  const [a, b] = chosen;
  const rows = rowsOf(content);
  return (
    <div class="choice" role="group" aria-label={t`Chosen to compare`}>
      {chosen.map((spot, which) => (
        <span key={spotText(spot)}>
          <b class={which === 0 ? "A" : "B"}>{which === 0 ? "A" : "B"}</b> {spotSummary(content, rows, spot)}{" "}
          <button type="button" aria-label={t`Without ${spotText(spot)}`} onClick={() => toggle(spot)}>
            ×
          </button>
        </span>
      ))}
      {!b && <span class="dim">{t`choose another one`}</span>}
      <button type="button" class="right" disabled={!b} onClick={() => a && b && go({ compare: [a, b] })}>
        {t`Compare`}
      </button>
    </div>
  );
}
