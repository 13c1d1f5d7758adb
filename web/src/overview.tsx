// What was found in all: the verdict, what each cause cost, the connections and their transfers.

import { useState } from "preact/hooks";
import { findingsOf, mainTransfer } from "./analysis";
import type { Content } from "./document";
import { Command, commandOf, FindingCard } from "./finding";
import { count, rate, roundBytes, thousands, time } from "./format";
import { Cause, causeTitle } from "./help";
import { causeGroup } from "./limits";
import { Listing } from "./listing";
import type { Capture, Connection, Finding } from "./model";
import { NoteList, type Notes } from "./notes";
import { ProofView } from "./proof";
import type { QueryClient } from "./query-client";
import { Requests } from "./requests";
import { t } from "./texts";
import type { Go, State } from "./url-state";
import { Waterfall } from "./waterfall";
import { lang, pairOf, problemOf, wordsOf } from "./words";

interface Props {
  content: Content;
  view: State;
  go: Go;
  help: (slug: string) => void;
  queryClient: QueryClient | null;
  notes: Notes;
}

/** Causes that are named at first. */
const FEW_CAUSES = 5;

export function Overview({ content, view, go, help, queryClient, notes }: Props) {
  const { analysis } = content;
  const only = content.connections_total === 1 ? mainConnection(content) : undefined;
  return (
    <main class="overview">
      <Verdict content={content} help={help} go={go} />
      {content.proof && <ProofView proof={content.proof} go={go} />}
      {content.probe && <Requests probe={content.probe} go={go} />}
      {only && <OnlyTransfer connection={only} go={go} />}
      {content.causes.length > 0 && <Causes content={content} go={go} help={help} />}
      {analysis.connections.length > 0 && (
        <Listing content={content} view={view} go={go} help={help} queryClient={queryClient} />
      )}
      <NoteList notes={notes} go={go} />
      <Across content={content} help={help} />
      <section class="captures" aria-label={t`Captures`}>
        {analysis.captures.map((capture, index) => (
          <CaptureLine key={index} capture={capture} />
        ))}
      </section>
    </main>
  );
}

/** The connection whose findings are shown: of those that two captures hold, the better one. */
function mainConnection({ analysis }: Content): Connection | undefined {
  const explained = analysis.pairs?.[0]?.told;
  return analysis.connections.find((one) => one.id === explained) ?? analysis.connections[0];
}

/** What concerns several connections, or both ends of one. */
function Across({ content, help }: { content: Content; help: (slug: string) => void }) {
  const { findings, pairs } = content.analysis;
  return (
    <>
      {findings.length > 0 && (
        <section aria-labelledby="across">
          <h2 id="across">{t`Over several connections`}</h2>
          <div class="cards">
            {findings.map((finding, index) => (
              <FindingCard key={index} finding={finding} content={content} help={help} />
            ))}
          </div>
        </section>
      )}
      {pairs?.map((pair, index) => (
        <section key={index}>
          <h2>{t`Both ends of connection ${pair.connections.join(t` and `)}`}</h2>
          <ul class="plain">
            {[...pairOf(pair).statements, ...pairOf(pair).caveats].map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** The sentence, what to do, and the figures that it rests on. */
function Verdict({ content, help, go }: { content: Content; help: (slug: string) => void; go: Go }) {
  const { causes, headline } = content;
  const [worst] = causes;
  const only = content.connections_total === 1 ? mainConnection(content) : undefined;
  const transfer = only?.transfers[mainTransfer(only)];
  const finding = only ? (transfer?.findings[0] ?? only.findings[0]) : worst && exampleOf(content, worst.cause);
  return (
    <section class={headline.is_good ? "verdict good" : "verdict"}>
      <h1>{headline[lang()].sentence}</h1>
      {headline[lang()].advice !== null && <p class="advice">{headline[lang()].advice}</p>}
      <p>
        {finding && only && <Cause slug={finding.cause} content={content} help={help} />}
        {transfer && t`${roundBytes(transfer.bytes)} in ${time(transfer.duration_s)} = ${rate(transfer.rate_bps)}`}
        {!only && worst && (
          <>
            <Cause slug={worst.cause} content={content} help={help} />
            {t` cost most: ${time(worst.seconds)} in ${thousands(worst.connections)} of ${count(content.connections_total, "connection")}`}
          </>
        )}
        {only && (
          <>
            {transfer && " · "}
            <a
              href="#"
              onClick={(event) => {
                event.preventDefault();
                go({ connection: only.id });
              }}
            >
              {t`see why`}
            </a>
          </>
        )}
      </p>
      {finding && <Commands finding={finding} />}
    </section>
  );
}

/** The commands of a finding, each under what it does. */
function Commands({ finding }: { finding: Finding }) {
  return finding.remedies.map((remedy, index) => {
    const command = commandOf(remedy);
    const does = wordsOf(finding).remedies[index] ?? t`Command`;
    if (!command) return null;
    return (
      <div key={index} class="choice-of">
        {finding.remedies.length > 1 && (
          <span class="dim">
            {index > 0 && t`or: `}
            {does}
          </span>
        )}
        <Command text={command} label={does} />
      </div>
    );
  });
}

/** The costliest finding of a cause. */
function exampleOf({ analysis }: Content, cause: string): Finding | undefined {
  const all = [...analysis.findings, ...analysis.connections.flatMap(findingsOf)];
  const found = all.filter((one) => one.cause === cause && one.remedies.length > 0);
  return found.reduce<Finding | undefined>((best, one) => (best && best.cost_s >= one.cost_s ? best : one), undefined);
}

function CaptureLine({ capture }: { capture: Capture }) {
  const others = capture.packets - capture.tcp_packets;
  return (
    <div class="capture">
      <b>{capture.path}</b>
      <span>
        {capture.format}
        {t`, ${count(capture.packets, "packet")}`}
        {capture.duration_s !== null && t` in ${time(capture.duration_s)}`}
        {others > 0 && t`, ${thousands(capture.tcp_packets)} of them TCP`}
        {capture.first_time && t`, from ${capture.first_time.replace("T", " ").replace(/\.\d+Z$/, " UTC")}`}
      </span>
      {capture.problems.map((problem) => (
        <span key={problem.slug} class="problem">
          <b>! {problem.slug}</b> {problemOf(problem)}
        </span>
      ))}
    </div>
  );
}

function OnlyTransfer({ connection, go }: { connection: Connection; go: Go }) {
  const index = mainTransfer(connection);
  const transfer = connection.transfers[index];
  if (!transfer) return null;
  return (
    <section aria-label={t`Where the time went`}>
      <h2>{t`Where the time went`}</h2>
      <Waterfall transfer={transfer} select={(zoom) => go({ connection: connection.id, transfer: index + 1, zoom })} />
    </section>
  );
}

function Causes({ content, go, help }: { content: Content; go: Go; help: (slug: string) => void }) {
  const [isAll, setIsAll] = useState(false);
  const most = content.causes[0]?.seconds ?? 0;
  const more = content.causes.length - FEW_CAUSES;
  return (
    <section aria-labelledby="causes">
      <h2 id="causes">{t`What cost time`}</h2>
      <ol class="causes">
        {(isAll ? content.causes : content.causes.slice(0, FEW_CAUSES)).map((cause) => (
          <li key={cause.cause}>
            <Cause slug={cause.cause} content={content} help={help} />
            <span class="bar" aria-hidden="true">
              <i class={causeGroup(cause.cause)} style={{ width: `${most > 0 ? (100 * cause.seconds) / most : 0}%` }} />
            </span>
            <b>{cause.seconds > 0 ? time(cause.seconds) : t`no time`}</b>
            <button
              type="button"
              class="link"
              onClick={() => go({ filter: `cause:${cause.cause}` })}
              title={t`List these connections`}
            >
              {count(cause.connections, "connection")}
            </button>
            <span class="dim">{causeTitle(cause.cause, content)}</span>
          </li>
        ))}
      </ol>
      {more > 0 && (
        <button type="button" class="link" aria-expanded={isAll} onClick={() => setIsAll(!isAll)}>
          {isAll ? t`fewer causes` : count(more, "more cause")}
        </button>
      )}
    </section>
  );
}
