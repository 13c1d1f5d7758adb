// The transfers that have ended, in any order, searched as the list of a capture is.

import { useMemo } from "preact/hooks";
import type { Content } from "../document";
import { count, roundBytes, thousands, time } from "../format";
import { Cause } from "../help";
import { FIELDS, readQuery } from "../query";
import { type Column, Table } from "../table";
import { t } from "../texts";
import { lang } from "../words";
import type { WatchProps } from ".";
import type { Board, LiveRow } from "./board";
import type { Feed } from "./feed";

/** Most causes named in a line. */
const FEW_CAUSES = 2;

export function Transfers(props: WatchProps & { feed: Feed; board: Board }) {
  const { board, feed, content, view, go, help } = props;
  const query = useMemo(() => readQuery(view.filter), [view.filter]);
  const rows = useMemo(() => [...board.rows.values()].filter(query.matches), [board.rows, query]);
  const first = board.state.first_time;
  const columns = useMemo(() => columnsOf(first, content, help), [first, content, help, lang()]);
  const open = (row: LiveRow) => go({ connection: row.id, transfer: row.from ? row.serial : null, zoom: null });
  const mark = (row: LiveRow) => (feed.fresh.has(row.serial) && !feed.isFrozen ? "fresh" : "");
  return (
    <section aria-label={t`Transfers that have ended`}>
      <div class="tablehead">
        <h2>{t`Transfers`}</h2>
        <input
          type="search"
          placeholder="duration>1 cause:loss server:example"
          title={t`Words, or fields: ${FIELDS.join(", ")}; : searches, > < == compare; and, or, not, a minus in front excludes`}
          aria-label={t`Filter`}
          aria-invalid={query.error !== null}
          value={view.filter}
          onInput={(event) => go({ filter: event.currentTarget.value }, true)}
        />
        <span class={query.error === null ? "dim" : "failed"} role="status">
          {query.error ?? listed(board, rows.length)}
        </span>
      </div>
      <Table
        rows={rows}
        columns={columns}
        first={TOOK}
        open={open}
        label={t`Transfers`}
        name={(row) => t`${clock(first, row.end)}, transfer ${row.serial}`}
        mark={mark}
        nothing={board.rows.size === 0 ? t`No transfer has ended so far.` : t`Nothing matches the filter.`}
      />
    </section>
  );
}

/** The time of day, UTC. What is finer than milliseconds is lost on the way, and is not shown. */
function clock(first: string | null, seconds: number): string {
  const began = first === null ? 0 : Date.parse(first);
  return new Date(began + seconds * 1e3).toISOString().slice(11, 23);
}

/** How many are listed, and what is not. */
function listed(board: Board, rows: number): string {
  const held = board.rows.size;
  const shown = rows === held ? count(held, "transfer") : t`${thousands(rows)} of ${count(held, "transfer")}`;
  if (board.leftOut === 0) return shown;
  return t`${shown}: the newest, the slowest and the costliest; ${count(board.leftOut, "other")} left out, and counted above`;
}

/** Where the time that it took stands among the columns. */
const TOOK = 3;

function columnsOf(first: string | null, content: Content, help: (slug: string) => void): Column<LiveRow>[] {
  return [
    {
      head: t`ended`,
      title: t`UTC, by the clock of the capture`,
      key: (row) => row.end,
      cell: (row) => clock(first, row.end),
      width: "7.4rem",
    },
    { head: t`server`, key: (row) => row.server, cell: (row) => row.server, isText: true },
    { head: t`client`, key: (row) => row.client, cell: (row) => row.client, isText: true, level: 2 },
    {
      head: t`waited`,
      title: t`From the first byte of the request to the last of the response`,
      key: (row) => row.took,
      cell: (row) => time(row.took),
      width: "5.6rem",
    },
    {
      head: t`cost`,
      title: t`Cost of its costliest cause`,
      key: (row) => row.lost,
      cell: (row) => (row.lost > 0 ? time(row.lost) : "–"),
      level: 1,
      width: "5.6rem",
    },
    {
      head: t`cause`,
      key: (row) => row.causes[0] ?? "",
      cell: (row) =>
        row.causes.slice(0, FEW_CAUSES).map((slug) => <Cause key={slug} slug={slug} content={content} help={help} />),
      isText: true,
    },
    {
      head: t`bytes`,
      title: t`↑ from the client, ↓ from the server`,
      key: (row) => row.bytes,
      cell: (row) => `${row.from === null ? "" : row.from === "client" ? "↑ " : "↓ "}${roundBytes(row.bytes)}`,
      level: 1,
      width: "6.2rem",
    },
    {
      head: "RTT",
      title: t`Median round-trip time`,
      key: (row) => row.rtt ?? -1,
      cell: (row) => (row.rtt === null ? "–" : time(row.rtt)),
      level: 3,
      width: "5.6rem",
    },
    {
      head: t`carries`,
      title: t`Its content, and the program on this machine`,
      key: (row) => row.words ?? "",
      cell: (row) =>
        [row.from === null ? t`whole connection` : row.label, row.process, row.revised ? t`continued` : null]
          .filter(Boolean)
          .join(" · "),
      isText: true,
      level: 3,
    },
  ];
}
