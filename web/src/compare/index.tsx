// Two transfers side by side: the result of core's `compare`. The page judges nothing.

import { useEffect, useState } from "preact/hooks";
import type { Content } from "../document";
import { bytes, rate, time } from "../format";
import type { QueryClient } from "../query-client";
import type { Go } from "../url-state";
import { format, START } from "../url-state";
import { Chart } from "./chart";
import "./compare.css";
import { t, word } from "../texts";
import { lang, type WordedComparison } from "../words";
import { comparison, NAMES, type Spot, spotText, type Two } from "./comparison";
import type { Comparison, ExplainedCapture } from "./model";
import { FirstByte, Phases, Rounds, Settings } from "./tables";

export function CompareView({
  content,
  spots,
  go,
  queryClient,
}: {
  content: Content;
  spots: Two<Spot>;
  go: Go;
  queryClient: QueryClient | null;
}) {
  const [explained, setTold] = useState<WordedComparison | null>(null);
  const [why, setWhy] = useState<string | null>(null);
  const names = spots.map(spotText).join("~");
  useEffect(() => {
    let wanted = true;
    setWhy(null);
    // What is there stays until the other one is.
    comparison(content, queryClient, spots)
      .then((found) => wanted && setTold(found))
      .catch((error: Error) => {
        if (!wanted) return;
        setTold(null);
        setWhy(error.message);
      });
    return () => {
      wanted = false;
    };
    // The names are the spots.
  }, [content, queryClient, names]);
  return (
    <main class="compare">
      <nav class="crumbs" aria-label={t`Where this is`}>
        <a
          href="#"
          onClick={(event) => {
            event.preventDefault();
            go({ ...START });
          }}
        >
          {t`overview`}
        </a>
        <span aria-hidden="true">›</span>
        <b>{t`transfers ${spots.map(spotText).join(t` and `)}`}</b>
      </nav>
      {why !== null && (
        <p class="failed" role="alert">
          <b>{t`Nothing to compare.`}</b> {why}
        </p>
      )}
      {explained && <Page explained={explained} go={go} queryClient={queryClient} />}
    </main>
  );
}

function Page({
  explained,
  go,
  queryClient,
}: {
  explained: WordedComparison;
  go: Go;
  queryClient: QueryClient | null;
}) {
  const [first, ...rest] = explained.words[lang()].statements;
  const swap = (): Two<Spot> => [
    [explained.transfers[1].connection, explained.transfers[1].transfer],
    [explained.transfers[0].connection, explained.transfers[0].transfer],
  ];
  return (
    <>
      <section class="verdict" aria-label={t`Verdict`}>
        <h1>{first ? sentence(first) : t`Neither transfer carried anything to compare`}</h1>
      </section>
      <section class="pair" aria-label={t`The transfers`}>
        {explained.transfers.map((one, which) => (
          <Card
            key={which}
            explained={one}
            verdict={explained.words[lang()].verdicts[which] ?? ""}
            name={NAMES[which]!}
            reach={explained.reach[which] ?? null}
            go={go}
          />
        ))}
        {queryClient && (
          <button
            type="button"
            class="swap"
            title={t`A becomes B, and B becomes A`}
            onClick={() => go({ compare: swap() })}
          >
            {t`⇄ swap`}
          </button>
        )}
      </section>
      {explained.words[lang()].caveats.length > 0 && (
        <section aria-label={t`Limits of the comparison`}>
          {explained.words[lang()].caveats.map((line) => (
            <p key={line} class="problem">
              <b>!</b> {line}
            </p>
          ))}
        </section>
      )}
      <div class="beside-chart">
        <section aria-labelledby="curves">
          <h2 id="curves">{t`Bytes by time, and which is faster at what size`}</h2>
          <Chart explained={explained} />
        </section>
        <section aria-labelledby="words">
          <h2 id="words">{t`In words`}</h2>
          <ul class="plain words">
            {rest.map((line) => (
              <li key={line}>{sentence(line)}</li>
            ))}
          </ul>
        </section>
      </div>
      <Phases explained={explained} />
      <Rounds explained={explained} />
      <div class="two">
        <FirstByte explained={explained} />
        <Settings explained={explained} />
      </div>
    </>
  );
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What the transfer would do if it went on. */
const further = ({ kind, rate_bps }: NonNullable<Comparison["reach"][0]>): string => {
  if (kind === "steady") return t`If it went on, it would keep to ${rate(rate_bps)}`;
  if (kind === "window") return t`If it went on, it would reach ${rate(rate_bps)}`;
  return t`If it went on, it would reach more than ${rate(rate_bps)}`;
};

function Card({
  explained,
  verdict,
  name,
  reach,
  go,
}: {
  explained: ExplainedCapture;
  verdict: string;
  name: string;
  reach: Comparison["reach"][0];
  go: Go;
}) {
  const view = { ...START, connection: explained.connection, transfer: explained.transfer };
  const near = {
    client: t`captured next to the client`,
    server: t`captured next to the server`,
    middle: t`captured between the ends`,
    unknown: "",
  }[explained.near];
  return (
    <article class={`side ${name}`} aria-label={name}>
      <h2>
        <span class={`badge ${name}`}>{name}</span>
        <a
          href={format(view)}
          onClick={(event) => {
            event.preventDefault();
            go(view);
          }}
        >
          {t`${explained.path}: connection ${explained.connection}, transfer ${explained.transfer}`}
        </a>
      </h2>
      <p class="ends">
        {explained.ends[0]}{" "}
        <span role="img" aria-label={explained.from === "client" ? t`to` : t`from`}>
          {explained.from === "client" ? "→" : "←"}
        </span>{" "}
        {explained.ends[1]}
      </p>
      <p>
        {t`${bytes(explained.bytes)} from the ${word(explained.from)} in ${time(explained.duration_s)} = ${rate(explained.rate_bps)}`}
        {explained.rtt_s !== null && t`, RTT ${time(explained.rtt_s)}`}
        {near && <span class="dim">{t`, ${near}`}</span>}
      </p>
      {explained.label && <p class="dim">{explained.label}</p>}
      <p>{verdict}</p>
      {reach && <p title={t`${bytes(reach.flight)} in ${time(reach.round_s)}`}>{further(reach)}</p>}
    </article>
  );
}
