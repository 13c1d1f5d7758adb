// Bytes by time of both transfers, from one request on; and next to it, which is faster at each
// size.

import { useState } from "preact/hooks";
import { Axes, useWidth } from "../axes";
import { bytes, roundBytes, time } from "../format";
import { t } from "../texts";
import { place, type Scale, value } from "../tracks/scale";
import { lang, type WordedComparison } from "../words";
import { NAMES, type Point, when } from "./comparison";
import type { Comparison, Grown } from "./model";

const HEIGHT = 360;
const LEFT = 64;
const TOP = 12;
const FOOT = 38;
/** The strip that says who is faster, and its words. */
const STRIP = 16;
const WORDS = 118;
/** About the width of a character, pixels. */
const CHARACTER = 7.5;

/** Sizes are drawn up to here: what both tell of, and where another takes the lead. */
function top({ transfers, leads }: Comparison): number {
  const [a, b] = transfers.map((explained) => Math.max(1, explained.bytes));
  const [less, more] = [Math.min(a!, b!), Math.max(a!, b!)];
  const last = leads[leads.length - 1];
  const turn = leads.length > 1 && last ? last.from_bytes : 0;
  return 1.04 * Math.max(Math.min(more, 3 * less), turn <= 8 * less ? 1.25 * turn : 0);
}

const path = (points: Point[], x: Scale, y: Scale): string =>
  points
    .map(([at, size], index) => `${index === 0 ? "M" : "L"}${place(x, at).toFixed(1)} ${place(y, size).toFixed(1)}`)
    .join("");

/** The last point that is drawn. */
function end(curve: Grown, most: number): Point | undefined {
  return [...curve.captured, ...curve.extrapolated].filter(([, size]) => size <= most).pop();
}

export function Chart({ explained }: { explained: WordedComparison }) {
  const { box, width } = useWidth(300);
  const [size, setSize] = useState<number | null>(null);
  const most = top(explained);
  const right = width - STRIP - WORDS - 14;
  const ends = explained.curves.map(
    (curve) => when(curve, most) ?? curve.captured[curve.captured.length - 1]?.[0] ?? 0,
  );
  const x: Scale = { low: 0, high: Math.max(...ends, 1e-6) * 1.02, at: [LEFT, right] };
  const y: Scale = { low: 0, high: most, at: [HEIGHT - FOOT, TOP] };
  const same = explained.same_size;
  const both = size === null ? null : explained.curves.map((curve) => when(curve, size));
  const point = (event: PointerEvent) => {
    const bounds = box.current?.getBoundingClientRect();
    const at = value(y, event.clientY - (bounds?.top ?? 0));
    setSize(at >= 1 && at <= most ? Math.round(at) : null);
  };
  return (
    <figure class="curves">
      <div ref={box} onPointerMove={point} onPointerLeave={() => setSize(null)}>
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={t`Bytes by time. ${explained.words[lang()].statements[0] ?? ""}`}
        >
          <clipPath id="curves-plot">
            <rect x={LEFT} y={TOP} width={Math.max(0, right - LEFT)} height={HEIGHT - FOOT - TOP} />
          </clipPath>
          <Axes x={x} y={y} since={t`since the request`} />
          <g clip-path="url(#curves-plot)">
            {explained.leads.slice(1).map((lead) => (
              <line
                key={lead.from_bytes}
                class="turn"
                x1={LEFT}
                x2={right}
                y1={place(y, lead.from_bytes)}
                y2={place(y, lead.from_bytes)}
              />
            ))}
            {explained.curves.map((curve, which) => (
              <g key={which} class={`curve ${NAMES[which]}`}>
                <path d={path(curve.extrapolated, x, y)} class="beyond" />
                <path d={path(curve.captured, x, y)} />
              </g>
            ))}
          </g>
          {explained.curves.map((curve, which) => {
            const last = end(curve, most);
            return (
              last && (
                <text
                  key={which}
                  class={`name ${NAMES[which]}`}
                  x={Math.min(place(x, last[0]) + 6, right - 10)}
                  y={place(y, last[1]) + 14}
                >
                  {NAMES[which]}
                </text>
              )
            );
          })}
          {same && same.bytes <= most && Math.abs(same.difference_s) > 1e-4 && <Difference same={same} x={x} y={y} />}
          {size !== null && <line class="pointer" x1={LEFT} x2={right} y1={place(y, size)} y2={place(y, size)} />}
          {size !== null &&
            both?.map(
              (at, which) =>
                at !== null && (
                  <circle key={which} class={`dot ${NAMES[which]}`} cx={place(x, at)} cy={place(y, size)} r="4" />
                ),
            )}
          <Strip explained={explained} x={right + 10} y={y} most={most} />
        </svg>
      </div>
      <figcaption class="readout" aria-live="off">
        {size === null || both === null ? (
          <span class="dim">
            <b class="A">A</b>
            {t` and `}
            <b class="B">B</b>
            {t`: bytes received over time; dashed: extrapolated. Point at a size.`}
          </span>
        ) : (
          <>
            <span>{bytes(size)}</span>
            {both.map((at, which) => (
              <span key={which}>
                <b class={NAMES[which]}>{NAMES[which]}</b> {at === null ? "–" : time(at)}
              </span>
            ))}
            {both[0] != null && both[1] != null && <span>{faster(both[1] - both[0])}</span>}
          </>
        )}
      </figcaption>
    </figure>
  );
}

function faster(difference: number): string {
  if (Math.abs(difference) < 5e-5) return t`level`;
  return t`${difference > 0 ? "A" : "B"} is ${time(Math.abs(difference))} earlier`;
}

/** How far apart the two are where both have the same bytes. */
function Difference({ same, x, y }: { same: NonNullable<Comparison["same_size"]>; x: Scale; y: Scale }) {
  const [a, b] = same.seconds.map((at) => place(x, at));
  const at = place(y, same.bytes);
  const [left, right] = [Math.min(a!, b!), Math.max(a!, b!)];
  const words = t`${time(Math.abs(same.difference_s))} at ${bytes(same.bytes)}`;
  return (
    <g class="difference">
      <path d={`M${left} ${at - 5}v10M${right} ${at - 5}v10M${left} ${at}H${right}`} />
      {/* Where there is no room to the left, it stands above the line. */}
      {left - LEFT > words.length * CHARACTER ? (
        <text x={left - 8} y={at + 4} text-anchor="end">
          {words}
        </text>
      ) : (
        <text x={LEFT + 6} y={at - 9}>
          {words}
        </text>
      )}
    </g>
  );
}

/** Who is faster at what size: the sizes are those of the axis. */
function Strip({ explained, x, y, most }: { explained: WordedComparison; x: number; y: Scale; most: number }) {
  return (
    <g class="strip">
      {explained.leads.map((lead) => {
        const [low, high] = [place(y, Math.min(most, lead.from_bytes - 1)), place(y, Math.min(most, lead.to_bytes))];
        if (low - high < 0.5) return null;
        const name = lead.faster === null ? "level" : NAMES[lead.faster];
        const words = lead.faster === null ? t`level` : t`${name} by ≤ ${time(lead.by_s)}`;
        return (
          <g key={lead.from_bytes}>
            <rect class={name} x={x} y={high} width={STRIP} height={low - high} />
            {low - high > 15 && (
              <text class="sign" x={x + STRIP / 2} y={(low + high) / 2 + 4} text-anchor="middle">
                {lead.faster === null ? "=" : name}
              </text>
            )}
            {low - high > 15 && (
              <text x={x + STRIP + 6} y={(low + high) / 2 + 4}>
                {words}
              </text>
            )}
            {low - high > 34 && lead.from_bytes > 1 && (
              <text class="tick" x={x + STRIP + 6} y={low - 3}>
                {t`from ${roundBytes(lead.from_bytes)}`}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}
