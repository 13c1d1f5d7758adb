// A comparison in figures: phases, rounds, the first byte, settings.

import type { ComponentChildren } from "preact";
import { bytes, count, thousands, time } from "../format";
import { Term } from "../help";
import { limitInfo, limitMeans, limitName } from "../limits";
import { type ColumnHead, ColumnHeads } from "../parts";
import { t, word } from "../texts";
import { NAMES } from "./comparison";
import type { Comparison, Side } from "./model";

const Heads = () => (
  <>
    {NAMES.map((name) => (
      <th key={name} scope="col" class={`head ${name}`}>
        {name}
      </th>
    ))}
  </>
);

const signed = (seconds: number): string =>
  seconds === 0 ? "0 ms" : `${seconds < 0 ? "−" : "+"}${time(Math.abs(seconds))}`;

/**
 * Seconds in each phase, and by how much B's are more: to the right B waited longer, to the left A.
 */
export function Phases({ explained }: { explained: Comparison }) {
  const most = Math.max(1e-9, ...explained.phases.map((phase) => Math.abs(phase.difference_s)));
  const spent = (seconds: number) => (seconds === 0 ? "–" : time(seconds));
  return (
    <section aria-labelledby="phases">
      <h2 id="phases">{t`Where the time went`}</h2>
      <table class="figures phases">
        <thead>
          <tr>
            <th scope="col" class="text">
              {t`limited by`}
            </th>
            <Heads />
            <th scope="col" class="diverging">
              <span class="A">{t`◂ A waited longer`}</span>
              <span class="B">{t`B waited longer ▸`}</span>
            </th>
            <th scope="col">B − A</th>
          </tr>
        </thead>
        <tbody>
          {explained.phases.map((phase) => {
            const info = limitInfo(phase.limit);
            const share = (50 * Math.abs(phase.difference_s)) / most;
            const more = phase.difference_s > 0 ? "B" : "A";
            return (
              <tr key={`${phase.before}${phase.limit}`} title={limitMeans(phase.limit)}>
                <th scope="row" class="text">
                  <i class={`key ${info.group}`} aria-hidden="true">
                    {info.letter}
                  </i>
                  {limitName(phase.limit)}
                </th>
                <td>{spent(phase.seconds[0])}</td>
                <td>{spent(phase.seconds[1])}</td>
                <td class="diverging" aria-hidden="true">
                  <i
                    class={`bar ${more}`}
                    style={more === "B" ? { left: "50%", width: `${share}%` } : { right: "50%", width: `${share}%` }}
                  />
                </td>
                <td>{signed(phase.difference_s)}</td>
              </tr>
            );
          })}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" class="text">
              {t`together`}
            </th>
            <td>{time(explained.total.seconds[0])}</td>
            <td>{time(explained.total.seconds[1])}</td>
            <td />
            <td>{signed(explained.total.difference_s)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

/** The heads of one transfer's rounds. */
const roundHeads = (transfer: string): ColumnHead[] => [
  { name: t`start`, title: t`Since the request`, also: `from ${transfer}` },
  { name: t`bytes`, title: t`New payload in the round` },
  { name: <Term of="in flight" /> },
  { name: t`growth`, title: t`In flight, compared with the round before` },
  { name: <Term of="window" /> },
  { name: t`limited by`, isText: true },
];

/** The rounds of one number beside each other. */
export function Rounds({ explained }: { explained: Comparison }) {
  if (explained.rounds.length === 0) return null;
  const most = Math.max(1, ...explained.rounds.flatMap((round) => round.map((side) => side?.in_flight ?? 0)));
  const more = Math.max(...explained.rounds_total) - explained.rounds.length;
  return (
    <section aria-labelledby="rounds">
      <h2 id="rounds">
        <Term of="round">{t`Rounds side by side`}</Term>
      </h2>
      <div class="scroll beside" tabIndex={0} role="region" aria-label={t`All rounds`}>
        <table class="figures rounds">
          <thead>
            <tr>
              <td />
              {NAMES.map((name) => (
                <th key={name} scope="colgroup" colSpan={6} class={`head ${name}`}>
                  {name}
                </th>
              ))}
            </tr>
            <tr>
              <th scope="col">{t`round`}</th>
              {NAMES.map((name) => (
                <ColumnHeads key={name} of={roundHeads(name)} />
              ))}
            </tr>
          </thead>
          <tbody>
            {explained.rounds.map((round, index) => (
              <tr key={index}>
                <th scope="row">{index + 1}</th>
                {round.map((side, which) => (
                  <RoundCells key={which} side={side} name={NAMES[which]!} most={most} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && <p class="dim">{t`${count(more, "later round")} not listed.`}</p>}
    </section>
  );
}

function RoundCells({ side, name, most }: { side: Side | null; name: string; most: number }) {
  if (!side) return <td class={`from ${name}`} colSpan={6} />;
  const info = limitInfo(side.limit);
  return (
    <>
      <td class={`from ${name}`}>{time(side.start_s)}</td>
      <td>{thousands(side.bytes)}</td>
      <td class={`inbar ${name}`}>
        <i aria-hidden="true" style={{ width: `${(100 * side.in_flight) / most}%` }} />
        <span>{thousands(side.in_flight)}</span>
      </td>
      <td>{side.growth === null ? "" : `×${side.growth.toFixed(2)}`}</td>
      <td>{side.window === null ? "–" : thousands(side.window)}</td>
      <td class="text" title={limitMeans(side.limit)}>
        <i class={`key ${info.group}`} aria-hidden="true">
          {info.letter}
        </i>
        {limitName(side.limit)}
      </td>
    </>
  );
}

/**
 * Until the first byte was there, and until the program could read it: a TLS record is readable
 * when it is whole.
 */
export function FirstByte({ explained }: { explained: Comparison }) {
  const { arrived_s: arrived, readable_s: readable, first_record: record } = explained.first_byte;
  if (arrived.every((at) => at === null)) return null;
  const cells = (values: (number | null)[], show: (value: number) => string) =>
    values.map((value, which) => <td key={which}>{value === null ? "–" : show(value)}</td>);
  const isTls = record.some((size) => size !== null);
  return (
    <section aria-labelledby="first-byte">
      <h2 id="first-byte">{t`The first byte`}</h2>
      <table class="figures">
        <thead>
          <tr>
            <td />
            <Heads />
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row" class="text">
              {t`arrived, after the request`}
            </th>
            {cells(arrived, time)}
          </tr>
          {isTls && (
            <>
              <tr>
                <th scope="row" class="text" title={t`A TLS record is readable when all of it has arrived`}>
                  {t`readable: its TLS record is complete`}
                </th>
                {cells(readable, time)}
              </tr>
              <tr>
                <th scope="row" class="text">
                  {t`the first TLS record`}
                </th>
                {cells(record, bytes)}
              </tr>
            </>
          )}
        </tbody>
      </table>
    </section>
  );
}

const titles = (): Record<string, ComponentChildren> => ({
  "round-trip": <Term of="RTT">{t`minimum RTT`}</Term>,
  mss: <Term of="MSS" />,
  "window-scale": <Term of="window scale" />,
  sack: <Term of="SACK" />,
  timestamps: <Term of="timestamps" />,
  "first-flight": t`first flight`,
  "initial-window": t`initial window`,
  "first-window": t`receiver’s first window`,
  "first-record": t`first TLS record`,
  "largest-record": t`largest TLS record`,
});

/** What was agreed and how each began, what differs first. */
export function Settings({ explained }: { explained: Comparison }) {
  const names = titles();
  const settings = [...explained.settings].sort((a, b) => Number(b.differs) - Number(a.differs));
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">{t`Settings`}</h2>
      <table class="figures settings">
        <thead>
          <tr>
            <td />
            <Heads />
          </tr>
        </thead>
        <tbody>
          {settings.map((setting) => (
            <tr key={setting.name} class={setting.differs ? "differs" : "dim"}>
              <th scope="row" class="text">
                <span class="sign" title={setting.differs ? t`differs` : t`the same, or unknown`}>
                  {setting.differs ? "≠" : ""}
                </span>
                {names[setting.name] ?? setting.name}
              </th>
              {setting.values.map((value, which) => (
                <td key={which} class="text">
                  {value === null ? t`unknown` : value.replace(/[a-z]+/g, word)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
