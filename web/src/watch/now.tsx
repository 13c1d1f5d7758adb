// How the watch stands: what costs most, how much comes, what of it is missing.

import type { Content } from "../document";
import { FindingCard } from "../finding";
import { count, rate, roundBytes, thousands, time } from "../format";
import { Cause } from "../help";
import { t } from "../texts";
import type { Go } from "../url-state";
import { findingOf, problemOf } from "../words";
import type { WatchProps } from ".";
import type { Board } from "./board";
import type { Feed } from "./feed";
import type { Loss, LossTables, WatchState } from "./model";

/** Lines of a table. */
const FEW = 6;

type Part = WatchProps & { feed: Feed; board: Board };

export function Now(part: Part) {
  const { feed, board, content, go, help } = part;
  const { state } = board;
  return (
    <>
      <section class={state.minute.causes.length > 0 || state.is_over ? "verdict" : "verdict good"}>
        <h1>{sentence(state)}</h1>
        {state.failure !== null && (
          <p class="failed" role="alert">
            <b>{t`The watch failed.`}</b> {state.failure}
          </p>
        )}
        {feed.silence !== null && (
          <p class="failed" role="alert">
            {feed.silence}
          </p>
        )}
        <Figures state={state} />
        <Missing state={state} />
        <Freezer feed={feed} isOver={state.is_over} />
      </section>
      <div class="losses">
        <Losses of="causes" title={t`By cause`} {...{ state, content, help, go }} />
        <Losses of="servers" title={t`By server`} {...{ state, content, help, go }} />
      </div>
      <Together state={state} content={content} help={help} />
    </>
  );
}

function sentence({ is_over, minute, total, transfers, transfers_with_cause, packets }: WatchState): string {
  const worst = (tables: LossTables) => tables.causes[0];
  const described = (loss: Loss) => t`${loss.name}: ${time(loss.seconds)} in ${count(loss.transfers, "transfer")}`;
  if (is_over) {
    const most = worst(total);
    const lost = t`The watch has ended: ${thousands(transfers_with_cause)} of ${count(transfers, "transfer")} lost time`;
    return most ? t`${lost}, most of it to ${described(most)}.` : t`${lost}.`;
  }
  if (packets === 0) return t`No packet has arrived so far.`;
  const most = worst(minute);
  return most
    ? t`In the last minute most time was lost to ${described(most)}.`
    : t`No transfer lost time in the last minute.`;
}

/** 35 h 22 min, 14 s */
function span(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? t`${minutes} min` : t`${thousands(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

function Figures({ state }: { state: WatchState }) {
  const { rates } = state;
  const figures: [string, string, string][] = [
    [t`watched`, span(state.elapsed_s), state.first_time ? t`since ${clock(state.first_time)} UTC` : ""],
    [t`packets`, thousands(state.packets), t`${thousands(rates.packets)} a second`],
    [t`on the wire`, roundBytes(state.bytes), rate(Math.round(rates.bits))],
    [
      t`transfers`,
      thousands(state.transfers),
      t`${rates.transfers < 10 ? rates.transfers.toFixed(1) : thousands(rates.transfers)} a second`,
    ],
    [t`lost time`, thousands(state.transfers_with_cause), t`transfers`],
    [t`connections`, thousands(state.connections), t`recently open`],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b> <span class="dim">{more}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const clock = (iso: string) => iso.split("T")[1]?.slice(0, 8) ?? iso;

/** What of the packets is missing, and who left it out. */
function Missing({ state }: { state: WatchState }) {
  const counts: [number, string, string][] = [
    [state.dropped_by_ring, t`dropped by the ring`, t`whyslow was too slow for them: use a larger --ring, or a filter`],
    [state.dropped_by_interface, t`dropped by the interface`, t`before any filter`],
    [state.cut_packets, t`cut`, t`longer than --snaplen: only their first bytes were kept`],
  ];
  const more = state.transfers_not_listed;
  return (
    <>
      <p class="missing">
        {t`Missing packets:`}{" "}
        {counts.map(([packets, what, why]) => (
          <span key={what} class={packets > 0 ? "some" : "dim"} title={why}>
            <b>{thousands(packets)}</b> {what}
          </span>
        ))}
      </p>
      {more > 0 && (
        <p class="problem">
          <b>! {count(more, "more transfer")}</b>
          {t` ended at once on one connection, and are not listed`}
        </p>
      )}
      {state.problems.map((problem) => (
        <p key={problem.slug} class="problem">
          <b>! {problem.slug}</b> {problemOf(problem)}
        </p>
      ))}
      {state.notes.slice(-3).map((note, at) => (
        <p key={at} class="dim">
          {note}
        </p>
      ))}
    </>
  );
}

/** What comes is put aside until it is wanted. */
function Freezer({ feed, isOver }: { feed: Feed; isOver: boolean }) {
  const { isFrozen, fresh, freeze } = feed;
  if (isOver && !isFrozen && fresh.size === 0) return null;
  return (
    <p class="freezer" role="status">
      <button type="button" aria-pressed={isFrozen} onClick={() => freeze(!isFrozen)}>
        {isFrozen ? t`Continue` : t`Freeze`}
      </button>
      {isFrozen && <span>{t`Frozen: ${count(fresh.size, "transfer")} since`}</span>}
      {!isFrozen && fresh.size > 0 && <span class="dim">{t`${count(fresh.size, "transfer")} since then, marked`}</span>}
    </p>
  );
}

interface LossProps {
  of: keyof LossTables;
  title: string;
  state: WatchState;
  content: Content;
  help: (slug: string) => void;
  go: Go;
}

/** What was lost in this minute and since the start, the costliest of the minute first. */
function Losses({ of, title, state, content, help, go }: LossProps) {
  const minute = new Map(state.minute[of].map((loss) => [loss.name, loss]));
  const total = new Map(state.total[of].map((loss) => [loss.name, loss]));
  const names = [...new Set([...minute.keys(), ...total.keys()])].slice(0, FEW);
  const field = of === "causes" ? "cause" : "server";
  const cells = (loss: Loss | undefined) => (
    <>
      <td>{loss ? time(loss.seconds) : "–"}</td>
      <td class="level1">{loss ? thousands(loss.transfers) : ""}</td>
    </>
  );
  return (
    <section aria-label={t`Time lost: ${title}`}>
      <table class="rows">
        <thead>
          <tr>
            <th scope="col" class="text">
              {title}
            </th>
            <th scope="col">{t`this minute`}</th>
            <th scope="col" class="level1">
              {t`transfers`}
            </th>
            <th scope="col">{t`in all`}</th>
            <th scope="col" class="level1">
              {t`transfers`}
            </th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name} onClick={() => go({ filter: `${field}:${name}` }, true)} title={t`List these transfers`}>
              <td class="text">
                {of === "causes" ? (
                  <Cause slug={name} content={content} help={help} />
                ) : (
                  <button type="button" class="link" title={name}>
                    {name}
                  </button>
                )}
              </td>
              {cells(minute.get(name))}
              {cells(total.get(name))}
            </tr>
          ))}
        </tbody>
      </table>
      {names.length === 0 && <p class="dim">{t`Nothing lost time so far.`}</p>}
    </section>
  );
}

/** What connections of a minute have in common. */
function Together({ state, content, help }: Pick<LossProps, "state" | "content" | "help">) {
  if (state.together.length === 0) return null;
  return (
    <details class="together">
      <summary>{t`${count(state.together.length, "finding")} over several connections`}</summary>
      <div class="cards">
        {[...state.together].reverse().map(({ time: at, finding, words }) => (
          <div key={`${at} ${finding.cause}`}>
            <p class="dim">{t`${at}, ${count(finding.connections?.length ?? 0, "connection")}`}</p>
            <FindingCard finding={findingOf(finding, words)} content={content} help={help} />
          </div>
        ))}
      </div>
    </details>
  );
}
