// One connection: its transfers, why each was slow, and what happened in time.

import { useMemo } from "preact/hooks";
import { endpoint, mainTransfer, protocol } from "./analysis";
import type { Content } from "./document";
import { Exchanges, NamedRequests, TransferList } from "./exchanges";
import { Directions, Facts } from "./facts";
import { FindingCard } from "./finding";
import { bytes, count, rate, thousands, time } from "./format";
import { frameTime } from "./frames";
import { Cause } from "./help";
import type { Connection, Frame, Transfer } from "./model";
import { NoteList, type Notes } from "./notes";
import type { QueryClient } from "./query-client";
import { Rounds } from "./rounds";
import { t, word } from "./texts";
import { Tracks } from "./tracks";
import type { Go, State } from "./url-state";
import { Waterfall } from "./waterfall";
import { lang, pathOf, problemOf, verdictOf } from "./words";

interface Props {
  content: Content;
  connection: Connection;
  view: State;
  go: Go;
  help: (slug: string) => void;
  queryClient: QueryClient | null;
  notes: Notes;
}

export function ConnectionView({ content, connection, view, go, help, queryClient, notes }: Props) {
  const index = (view.transfer ?? mainTransfer(connection) + 1) - 1;
  const transfer = connection.transfers[index];
  // Made once for each transfer: a zoom, which is in the address and so comes through here, changes
  // nothing of it.
  const [head, reasons] = useMemo(() => {
    const show = (list: Frame[]) => {
      const zoom = zoomTo(connection, list);
      if (zoom) go({ zoom });
      document.getElementById("tracks")?.scrollIntoView({ block: "nearest", behavior: "smooth" });
    };
    const part = { content, connection, transfer, go, help };
    return [<Head {...part} index={index} />, <Reasons {...part} index={index} show={show} />];
  }, [content, connection, transfer, index, go, help, lang()]);
  return (
    <main class="connection">
      {head}
      <div class="split">
        <div class="reasons">
          {reasons}
          <NoteList notes={notes} connection={connection} zoom={view.zoom} go={go} />
        </div>
        <Tracks
          content={content}
          connection={connection}
          transfer={transfer ?? null}
          view={view}
          go={go}
          queryClient={queryClient}
        />
      </div>
    </main>
  );
}

interface Part {
  content: Content;
  connection: Connection;
  transfer: Transfer | undefined;
  go: Go;
  help: (slug: string) => void;
}

/** What is shown, and the verdict on it: the graphs begin on the same screen. */
function Head({ content, connection, index, transfer, go }: Part & { index: number }) {
  const several = content.analysis.captures.length > 1;
  return (
    <>
      <div class="where">
        <nav class="crumbs" aria-label={t`Where this is`}>
          <a
            href="#"
            onClick={(event) => {
              event.preventDefault();
              go({ connection: null, transfer: null, zoom: null, graph: null, from: null });
            }}
          >
            {content.watch ? t`All transfers` : count(content.connections_total, "connection")}
          </a>
          <span aria-hidden="true">›</span>
          <b>{t`connection ${connection.id}`}</b>
          {several && <span class="dim">{t`in ${content.analysis.captures[connection.capture]?.path}`}</span>}
        </nav>
        <h1 class="ends">
          {endpoint(connection.client)}{" "}
          <span role="img" aria-label={t`to`}>
            →
          </span>{" "}
          {endpoint(connection.server)}
          {connection.quic && <small class="dim"> {protocol(connection.quic)}</small>}
        </h1>
      </div>
      {transfer && (
        <section class="verdict" aria-label={t`Verdict`}>
          <h2 class={transfer.findings.length === 0 ? "good" : ""}>{verdictOf(transfer)}</h2>
          <p>
            {transfer.label && <>{transfer.label}: </>}
            {t`${bytes(transfer.bytes)} from the ${word(transfer.from)} in ${time(transfer.duration_s)} = ${rate(transfer.rate_bps)}`}
            {transfer.first_byte_s !== null && t`, first readable byte after ${time(transfer.first_byte_s)}`}
            <Turn connection={connection} index={index} go={go} />
          </p>
        </section>
      )}
    </>
  );
}

/** Which of the connection's transfers this is, and the way to the others. */
function Turn({ connection, index, go }: { connection: Connection; index: number; go: Go }) {
  const all = connection.transfers.length;
  if (all < 2) return null;
  const to = (at: number) => go({ transfer: at + 1, zoom: null, from: null });
  return (
    <span class="turn">
      {" · "}
      {t`transfer ${index + 1} of ${thousands(all)}`}
      <button type="button" disabled={index < 1} onClick={() => to(index - 1)} aria-label={t`Previous transfer`}>
        ‹
      </button>
      <button type="button" disabled={index + 1 >= all} onClick={() => to(index + 1)} aria-label={t`Next transfer`}>
        ›
      </button>
    </span>
  );
}

function Reasons(part: Part & { index: number; show: (frames: Frame[]) => void }) {
  const { content, connection, transfer, index, go, help, show } = part;
  return (
    <>
      {transfer?.findings.map((finding, at) => (
        <FindingCard key={at} finding={finding} transfer={transfer} content={content} help={help} show={show} />
      ))}
      {connection.findings.length > 0 && <h2>{t`Over its transfers`}</h2>}
      {connection.findings.map((finding, at) => (
        <FindingCard key={at} finding={finding} content={content} help={help} show={show} />
      ))}
      {connection.problems.map((problem) => (
        <p key={problem.slug} class="problem">
          <b>
            ! <Cause slug={problem.slug} content={content} help={help} />
          </b>{" "}
          {problemOf(problem)}
        </p>
      ))}
      {connection.exchanges_total > 0 && <Exchanges connection={connection} index={index} go={go} />}
      {connection.requests && <NamedRequests connection={connection} go={go} />}
      {connection.transfers.length > 1 && (
        <TransferList connection={connection} index={index} go={go} content={content} help={help} />
      )}
      {transfer && (
        <section>
          <h2>{t`Where the time went`}</h2>
          <Waterfall transfer={transfer} select={(zoom) => go({ zoom })} />
          <p class="dim">{t`Path: ${pathOf(transfer)}`}</p>
        </section>
      )}
      {transfer && <Rounds transfer={transfer} go={go} />}
      <Directions connection={connection} />
      <Facts connection={connection} />
    </>
  );
}

/** The time that these frames span, with some room; none where no time is known of any. */
function zoomTo(connection: Connection, list: Frame[]): [number, number] | null {
  const times = list.map((frame) => frameTime(connection, frame)).filter((at) => at !== null);
  if (times.length === 0) return null;
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const room = Math.max((to - from) * 0.04, (connection.rtt_ms.min ?? 1) / 2e3, 1e-5);
  return [from - room, to + room];
}
