// What was found in all: the verdict, what each cause cost, the connections and their transfers.

import { useState } from "preact/hooks";
import { endpoint, mainTransfer } from "./analysis";
import { type Spot, spotText } from "./compare/comparison";
import type { Content } from "./document";
import { Assumed, FindingCard } from "./finding";
import { count, rate, roundBytes, thousands, time } from "./format";
import type { Go, State } from "./hash";
import { Cause } from "./help";
import { Connections, Transfers } from "./lists";
import type { Capture, Connection } from "./model";
import { Waterfall } from "./waterfall";

interface Props {
  content: Content;
  view: State;
  go: Go;
  help: (slug: string) => void;
  /** Whether there is a server to ask. */
  local: boolean;
}

export function Overview({ content, view, go, help, local }: Props) {
  const { analysis } = content;
  const [chosen, setChosen] = useState<Spot[]>([]);
  const toggle = (spot: Spot) =>
    setChosen((old) => {
      const others = old.filter((one) => spotText(one) !== spotText(spot));
      // The third one takes the place of the first.
      return others.length < old.length ? others : [...old, spot].slice(-2);
    });
  const pick = local ? { chosen, toggle } : undefined;
  const [tab, setTab] = useState<"connections" | "transfers">("connections");
  const List = tab === "connections" ? Connections : Transfers;
  const only = analysis.connections.length === 1 ? analysis.connections[0] : undefined;
  return (
    <main class="overview">
      <Verdict content={content} help={help} go={go} />
      <section class="captures" aria-label="Captures">
        {analysis.captures.map((capture, index) => (
          <CaptureLine key={index} capture={capture} />
        ))}
      </section>
      {content.causes.length > 0 && <Causes content={content} go={go} help={help} />}
      {only && <OnlyTransfer connection={only} go={go} />}
      {analysis.findings.length > 0 && (
        <section aria-labelledby="across">
          <h2 id="across">Over several connections</h2>
          <div class="cards">
            {analysis.findings.map((finding, index) => (
              <FindingCard key={index} finding={finding} content={content} help={help} />
            ))}
          </div>
        </section>
      )}
      {analysis.pairs?.map((pair, index) => (
        <section key={index}>
          <h2>Both ends of connection {pair.connections.join(" and ")}</h2>
          <ul class="plain">
            {[...pair.summary, ...pair.caveats].map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </section>
      ))}
      {analysis.connections.length > 0 && (
        <section aria-label="Connections and transfers">
          <div class="tablehead">
            <div role="tablist" aria-label="What is listed">
              <button
                type="button"
                role="tab"
                aria-selected={tab === "connections"}
                onClick={() => setTab("connections")}
              >
                Connections
              </button>
              <button type="button" role="tab" aria-selected={tab === "transfers"} onClick={() => setTab("transfers")}>
                Transfers
              </button>
            </div>
            <input
              type="search"
              placeholder="Filter: address, name, cause, state…"
              aria-label="Filter"
              value={view.filter}
              onInput={(event) => go({ filter: event.currentTarget.value }, true)}
            />
            {content.connections_total > analysis.connections.length && (
              <span class="dim">
                The {thousands(analysis.connections.length)} that lost most of {thousands(content.connections_total)}
                {"; `whyslow --jsonl` has all."}
              </span>
            )}
          </div>
          <List
            connections={analysis.connections}
            filter={view.filter}
            go={go}
            content={content}
            help={help}
            pick={pick}
          />
          {chosen.length > 0 && <Choice chosen={chosen} content={content} go={go} toggle={toggle} />}
        </section>
      )}
    </main>
  );
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
  const told = ([id, number]: Spot) => {
    const connection = content.analysis.connections.find((one) => one.id === id);
    const transfer = connection?.transfers[number - 1];
    return connection && transfer
      ? `${id}.${number}, ${roundBytes(transfer.bytes)} ${transfer.from === "client" ? "to" : "from"} ${endpoint(connection.server)}`
      : spotText([id, number]);
  };
  return (
    <div class="choice" role="group" aria-label="Chosen to compare">
      {chosen.map((spot, which) => (
        <span key={spotText(spot)}>
          <b class={which === 0 ? "A" : "B"}>{which === 0 ? "A" : "B"}</b> {told(spot)}{" "}
          <button type="button" aria-label={`Without ${spotText(spot)}`} onClick={() => toggle(spot)}>
            ×
          </button>
        </span>
      ))}
      {!b && <span class="dim">choose another one</span>}
      <button type="button" class="right" disabled={!b} onClick={() => a && b && go({ compare: [a, b] })}>
        Compare
      </button>
    </div>
  );
}

function Verdict({ content, help, go }: { content: Content; help: (slug: string) => void; go: Go }) {
  const { analysis, causes } = content;
  const worst = causes[0];
  const only = content.connections_total === 1 ? analysis.connections[0] : undefined;
  if (content.connections_total === 0) {
    return (
      <section class="verdict">
        <h1>There is no TCP connection to explain</h1>
      </section>
    );
  }
  if (!worst) {
    return (
      <section class="verdict good">
        <h1>
          {only?.transfers[mainTransfer(only)]?.verdict ?? "No transfer was held back by anything that could be told"}
        </h1>
        <p>
          {count(content.connections_total, "connection")}, and nothing to mend in{" "}
          {content.connections_total === 1 ? "it" : "them"} that this capture shows.
        </p>
      </section>
    );
  }
  if (only) {
    const transfer = only.transfers[mainTransfer(only)];
    const finding = transfer?.findings[0] ?? only.findings[0];
    return (
      <section class="verdict">
        <h1>
          {finding && (
            <>
              <Cause slug={finding.cause} content={content} help={help} /> {finding.summary}
            </>
          )}
        </h1>
        {transfer && (
          <p>
            {roundBytes(transfer.bytes)} in {time(transfer.duration_s)} = {rate(transfer.rate_bps)}
            {finding?.predicted_s != null && (
              <>
                {" "}
                · without it <b>{time(finding.predicted_s)}</b>
                <Assumed finding={finding} />
              </>
            )}
            {" · "}
            <a
              href="#"
              onClick={(event) => {
                event.preventDefault();
                go({ connection: only.id });
              }}
            >
              see why
            </a>
          </p>
        )}
      </section>
    );
  }
  return (
    <section class="verdict">
      <h1>
        <Cause slug={worst.cause} content={content} help={help} /> cost most: {time(worst.seconds)} in{" "}
        {thousands(worst.connections)} of {count(content.connections_total, "connection")}
      </h1>
      <p>{content.docs[worst.cause]?.title}</p>
    </section>
  );
}

function CaptureLine({ capture }: { capture: Capture }) {
  const others = capture.packets - capture.tcp_packets;
  return (
    <div class="capture">
      <b>{capture.path}</b>
      <span>
        {capture.format}, {count(capture.packets, "packet")}
        {capture.duration_s !== null && ` in ${time(capture.duration_s)}`}
        {others > 0 && `, ${thousands(others)} of them not TCP`}
        {capture.first_time && `, from ${capture.first_time.replace("T", " ").replace(/\.\d+Z$/, " UTC")}`}
      </span>
      {capture.problems.map((problem) => (
        <span key={problem.slug} class="problem">
          <b>! {problem.slug}</b> {problem.detail}
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
    <section aria-label="Where the time went">
      <h2>Where the time went</h2>
      <Waterfall transfer={transfer} select={(zoom) => go({ connection: connection.id, transfer: index + 1, zoom })} />
    </section>
  );
}

function Causes({ content, go, help }: { content: Content; go: Go; help: (slug: string) => void }) {
  const most = content.causes[0]?.seconds ?? 0;
  return (
    <section aria-labelledby="causes">
      <h2 id="causes">What cost time</h2>
      <ol class="causes">
        {content.causes.map((cause) => (
          <li key={cause.cause}>
            <Cause slug={cause.cause} content={content} help={help} />
            <span class="bar" aria-hidden="true">
              <i style={{ width: `${most > 0 ? (100 * cause.seconds) / most : 0}%` }} />
            </span>
            <b>{cause.seconds > 0 ? time(cause.seconds) : "no time"}</b>
            <button
              type="button"
              class="link"
              onClick={() => go({ filter: cause.cause })}
              title="List these connections"
            >
              {count(cause.connections, "connection")}
            </button>
            <span class="dim">{content.docs[cause.cause]?.title}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
