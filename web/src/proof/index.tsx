// A proof: the transfer made again on a machine's own TCP, without and with its fixes.

import type { Content } from "../document";
import { Command } from "../finding";
import { count, share, time } from "../format";
import type { Go } from "../url-state";
import { Chart } from "./chart";
import type { Fix } from "./model";
import "./proof.css";
import { t } from "../texts";

type Proof = NonNullable<Content["proof"]>;

export function ProofView({ proof, go }: { proof: Proof; go: Go }) {
  const { connection, transfer, agreement, factor } = proof;
  return (
    <section class="proof" aria-labelledby="proof">
      <h2 id="proof">{t`Proof: reproduced on a machine’s own TCP`}</h2>
      <p class={proof.agrees ? "outcome good" : "outcome"}>{proof.headline}</p>
      <p class="dim">
        {t`built: ${proof.built}`}
        {factor > 1.005 && t`; 1/${factor.toFixed(1)} of it was run`}
        {" · "}
        <a
          href="#"
          onClick={(event) => {
            event.preventDefault();
            go({ connection, transfer });
          }}
        >
          {transfer === null ? t`connection ${connection}` : t`connection ${connection}, transfer ${transfer}`}
        </a>
      </p>
      {!proof.agrees && (
        <p class="problem">
          <b>{t`differs`}</b> {agreement.differs.join("; ")}
        </p>
      )}
      {proof.instead.map((other) => (
        <p key={other.cause} class={other.agreement.agrees ? undefined : "dim"}>
          <b>{t`instead`}</b> {other.cause}
          {": "}
          {other.agreement.agrees ? t`agrees` : t`differs in ${other.agreement.differs.join("; ")}`}
        </p>
      ))}
      <div class="beside">
        <div>
          <Runs proof={proof} />
          <p class="dim">{compared(proof)}</p>
        </div>
        <Chart curves={proof.curves} isWhole={transfer === null} />
      </div>
    </section>
  );
}

/** What the run has in common with the capture. */
function compared({ agreement, tries, transfer, noise_s }: Proof): string {
  const { captured_cause: there, again_cause: here, again_confidence: sure } = agreement;
  const sum = ({ fast, timeout, tail_probe, spurious }: Proof["agreement"]["captured_retransmitted"]) =>
    fast + timeout + tail_probe + spurious;
  const [captured, again] = [sum(agreement.captured_retransmitted), sum(agreement.again_retransmitted)];
  const parts = [];
  if (transfer !== null && agreement.rounds > 0)
    parts.push(t`rounds agree in ${agreement.rounds_alike} of ${agreement.rounds}`);
  if (captured + again > 0) parts.push(t`${count(again, "segment")} retransmitted here, ${captured} there`);
  if (there === here)
    parts.push(there === null ? t`nothing slowed either` : t`same cause: ${there} (${share(sure ?? 0)})`);
  else parts.push(t`cause: ${here ?? t`none`} here, ${there ?? t`none`} there`);
  if (tries > 1) parts.push(t`the best of ${tries} attempts`);
  if (noise_s > 0.05 * agreement.again_s) parts.push(t`late packets may have added ${time(noise_s)} to the run`);
  return parts.join("; ");
}

function Runs({ proof }: { proof: Proof }) {
  const { agreement, fixes, together, often_tried } = proof;
  const main = agreement.captured_cause;
  const isPromised = fixes.some((fix) => fix.predicted !== null);
  return (
    <div class="runs" tabIndex={0} role="region" aria-label={t`Runs`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t`run`}</th>
            <th scope="col">{t`change`}</th>
            <th scope="col" class="number">
              {t`duration`}
            </th>
            {isPromised && (
              <th scope="col" class="number">
                {t`predicted`}
              </th>
            )}
            <th scope="col">{t`runs`}</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{t`captured`}</th>
            <td class="dim">{t`the capture itself`}</td>
            <td class="number">{time(agreement.captured_s)}</td>
            {isPromised && <td />}
            <td />
          </tr>
          <tr>
            <th scope="row">{t`again`}</th>
            <td class="dim">{t`nothing`}</td>
            <td class="number">{time(agreement.again_s)}</td>
            {isPromised && <td />}
            <td class="dim">{spread(proof.all_again)}</td>
          </tr>
          {fixes.map((fix, index) => (
            <Row key={index} fix={fix} main={main} isPromised={isPromised} helps={t`fixed`} />
          ))}
          {together && <Row fix={together} main={main} isPromised={isPromised} helps={t`together`} />}
          {often_tried.map((fix, index) => (
            <Row key={index} fix={fix} main={main} isPromised={isPromised} helps={t`helps too`} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const verdict = (of: "no-help" | "harms" | "not-run"): string =>
  ({ "no-help": t`no help`, harms: t`slower`, "not-run": t`not run` })[of];

/** `main` is the cause that the verdict is about. */
function Row({ fix, main, isPromised, helps }: { fix: Fix; main: string | null; isPromised: boolean; helps: string }) {
  const name = fix.verdict === "helps" ? helps : verdict(fix.verdict);
  return (
    <tr class={fix.verdict}>
      <th scope="row">{name}</th>
      <td>
        {fix.what}
        {fix.cause !== null && fix.cause !== main && <span class="dim">{t` (for ${fix.cause})`}</span>}
        {fix.why_not !== null && <span class="dim">: {fix.why_not}</span>}
        {fix.verdict === "helps" && fix.command !== null && (
          <Command text={fix.command} label={t`Command that was run: ${fix.what}`} />
        )}
      </td>
      <td class="number">{fix.measured === null ? "–" : time(fix.measured)}</td>
      {isPromised && <td class="number dim">{fix.predicted === null ? "" : time(fix.predicted)}</td>}
      <td class="dim">{spread(fix.all_measured)}</td>
    </tr>
  );
}

/** The least and the most of several runs. */
function spread(all: number[]): string {
  const [least, most] = [all[0], all[all.length - 1]];
  if (least === undefined || most === undefined) return "";
  return all.length === 1 ? "1" : t`${all.length}: ${time(least)} to ${time(most)}`;
}
