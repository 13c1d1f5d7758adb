// A finding: the cause, its evidence, the fixes, and their effect.

import { useState } from "preact/hooks";
import { frames } from "./analysis";
import type { Content } from "./document";
import { figure, rate, share, time } from "./format";
import { Cause, Term } from "./help";
import { causeGroup } from "./limits";
import type { Finding, Frame, Remedy, Transfer } from "./model";
import { t, word } from "./texts";
import { wordsOf } from "./words";

/** The command for the platform of the host that acts, or for Linux where that is unknown. */
export function commandOf(remedy: Remedy): string | undefined {
  return remedy.commands[remedy.platform ?? "linux"];
}

export function FindingCard({
  finding,
  transfer,
  content,
  help,
  show,
}: {
  finding: Finding;
  transfer?: Transfer;
  content: Content;
  help: (slug: string) => void;
  /** Zooms to these frames. */
  show?: (frames: Frame[]) => void;
}) {
  const all = finding.evidence.flatMap((one) => one.frames);
  const words = wordsOf(finding);
  return (
    <article class="finding" style={{ borderLeftColor: `var(--${causeGroup(finding.cause)})` }}>
      <header>
        <Cause slug={finding.cause} content={content} help={help} />
        <b class="number">{time(finding.cost_s)}</b>
        {transfer && finding.cost_s <= transfer.duration_s && (
          <span class="dim">{t`of ${time(transfer.duration_s)}`}</span>
        )}
        <span class="dim right">
          <Term of="confidence">{confidence(finding.confidence)}</Term>
        </span>
      </header>
      {show && all.length > 0 ? (
        <button type="button" class="summary" onClick={() => show(all)} title={t`Zoom to the evidence`}>
          {words.summary}
        </button>
      ) : (
        <p class="summary">{words.summary}</p>
      )}
      {finding.evidence.length > 0 && (
        <table class="evidence">
          <tbody>
            {finding.evidence.map((one, index) => (
              <tr key={index}>
                <th scope="row">{words.evidence[index]?.[0] ?? one.kind}</th>
                <td class="number">
                  {one.value === null ? t`unknown` : figure(one.value, words.evidence[index]?.[1] ?? one.unit)}
                </td>
                <td>
                  {one.frames.length > 0 &&
                    (show ? (
                      <button type="button" class="link" onClick={() => show(one.frames)}>
                        {frames(one.frames)}
                      </button>
                    ) : (
                      <span class="dim">{frames(one.frames)}</span>
                    ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {finding.remedies.map((remedy, index) => (
        <div class="fix" key={index}>
          <span class="tag">{index === 0 ? t`fix` : t`or`}</span>
          <div>
            <p>
              <b>{t`${who(remedy.actor, transfer)}:`}</b> <Marked text={words.remedies[index] ?? ""} />
            </p>
            {commandOf(remedy) && (
              <Command text={commandOf(remedy) ?? ""} label={words.remedies[index] ?? t`Command`} />
            )}
            {index === 0 && words.verify && (
              <p class="dim">
                <Marked text={t`To see that it worked: ${words.verify}`} />
              </p>
            )}
            <Promised remedy={remedy} transfer={transfer} />
          </div>
        </div>
      ))}
      {words.to_confirm && (
        <div class="fix">
          <span class="tag">{t`to confirm`}</span>
          <p>
            <Marked text={words.to_confirm} />
          </p>
        </div>
      )}
    </article>
  );
}

/** A sentence whose commands stand between backquotes. */
function Marked({ text }: { text: string }) {
  return (
    <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={`${index}${part}`}>{part}</code> : part))}</>
  );
}

/** As in the terminal. */
const confidence = (value: number): string =>
  t`${value >= 0.9 ? t`certain` : value >= 0.6 ? t`likely` : t`possible`} (${share(value)})`;

/** The time after a remedy. */
function Promised({ remedy, transfer }: { remedy: Remedy; transfer?: Transfer | undefined }) {
  if (remedy.predicted_s === null || !transfer) return null;
  return (
    <p>
      {t`if fixed`} <b>{time(remedy.predicted_s)}</b>
      {remedy.predicted_range_s && t` (${remedy.predicted_range_s.map(time).join(t` to `)})`}
      {t` instead of ${time(transfer.duration_s)}`}
      {transfer.model_s !== null && (
        <span class="dim">
          {" "}
          <Term of="model">{t`(the model reproduces ${time(transfer.model_s)})`}</Term>
        </span>
      )}
      <Assumed remedy={remedy} />
    </p>
  );
}

/** What a promise assumes about the link. */
export function Assumed({ remedy }: { remedy: Remedy }) {
  const assumed = remedy.predicted_assumes;
  if (!assumed) return null;
  return (
    <span class="dim">
      {t`; if the link carries more than ${rate(assumed.needed_bps)}, of which the capture shows ${rate(assumed.seen_bps)}`}
    </span>
  );
}

/** Who must act, as an end of this connection where that is known. */
function who(actor: string, transfer: Transfer | undefined): string {
  const receiver = transfer?.from === "client" ? "server" : "client";
  if (transfer && actor === "sender") return t`on the ${word(transfer.from)}`;
  if (transfer && actor === "receiver") return t`on the ${word(receiver)}`;
  const names: Record<string, string> = {
    sender: t`at the sender`,
    receiver: t`at the receiver`,
    network: t`in the network`,
    application: t`in the application`,
    capture: t`when capturing`,
  };
  return names[actor] ?? actor;
}

/** A command to be pasted. */
export function Command({ text, label = t`Command` }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div class="command">
      <code tabIndex={0} role="region" aria-label={label}>
        {text}
      </code>
      <button type="button" onClick={() => void copy()} aria-label={t`Copy the command`}>
        {copied ? t`copied` : t`copy`}
      </button>
    </div>
  );
}
