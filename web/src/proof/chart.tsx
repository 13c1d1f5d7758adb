// Captured, repeated and fixed run in one graph: bytes acknowledged by time.

import { useState } from "preact/hooks";
import { Axes, useWidth } from "../axes";
import { bytes, time } from "../format";
import { t, word } from "../texts";
import { place, type Scale, value } from "../tracks/scale";
import type { Curve } from "./model";

const HEIGHT = 300;
const LEFT = 64;
const RIGHT = 14;
const TOP = 12;
const FOOT = 38;

type Points = Curve["points"];

/** What was acknowledged stays so until the next point. */
const path = (points: Points, x: Scale, y: Scale): string =>
  points
    .map(([at, size], index) => {
      const [left, top] = [place(x, at).toFixed(1), place(y, size).toFixed(1)];
      return index === 0 ? `M${left} ${top}` : `H${left}V${top}`;
    })
    .join("");

/** When so many bytes had been acknowledged; null where it never got so far. */
const when = (points: Points, size: number): number | null => points.find((point) => point[1] >= size)?.[0] ?? null;

/** What is drawn last lies above the others, so the capture's dashes come last. */
const over = (curves: Curve[]): Curve[] => [...curves].reverse();

export function Chart({ curves, isWhole }: { curves: Curve[]; isWhole: boolean }) {
  const { box, width } = useWidth(320);
  const [size, setSize] = useState<number | null>(null);
  const ends = curves.flatMap(({ points }) => points.slice(-1));
  const most = Math.max(0, ...ends.map((end) => end[1]));
  if (most === 0) return null;
  const x: Scale = { low: 0, high: Math.max(...ends.map((end) => end[0]), 1e-6) * 1.02, at: [LEFT, width - RIGHT] };
  const y: Scale = { low: 0, high: most * 1.04, at: [HEIGHT - FOOT, TOP] };
  const point = (event: PointerEvent) => {
    const bounds = box.current?.getBoundingClientRect();
    const at = value(y, event.clientY - (bounds?.top ?? 0));
    setSize(at >= 1 && at <= y.high ? Math.round(Math.min(at, most)) : null);
  };
  const took = curves.map(({ of, points }) => `${word(of)} ${time(points[points.length - 1]?.[0] ?? 0)}`).join(", ");
  return (
    <figure class="curves">
      <div ref={box} onPointerMove={point} onPointerLeave={() => setSize(null)}>
        <svg width={width} height={HEIGHT} role="img" aria-label={t`Bytes acknowledged by time: ${took}`}>
          <Axes x={x} y={y} since={isWhole ? t`since the connection’s first packet` : t`since the transfer began`} />
          {over(curves).map(({ of, points }) => (
            <g key={of} class={`curve ${of}`}>
              <path d={path(points, x, y)} />
            </g>
          ))}
          {size !== null && (
            <line class="pointer" x1={LEFT} x2={width - RIGHT} y1={place(y, size)} y2={place(y, size)} />
          )}
          {size !== null &&
            curves.map(({ of, points }) => {
              const at = when(points, size);
              return at !== null && <circle key={of} class={`dot ${of}`} cx={place(x, at)} cy={place(y, size)} r="4" />;
            })}
        </svg>
      </div>
      <figcaption aria-live="off">
        <span>{size === null ? t`acknowledged` : t`${bytes(size)} after`}</span>
        {curves.map(({ of, what, points }) => {
          const at = when(points, size ?? most);
          return (
            <span key={of} class={`run-name ${of}`} title={what ?? undefined}>
              <b>{word(of)}</b> {at === null ? "–" : time(at)}
            </span>
          );
        })}
      </figcaption>
    </figure>
  );
}
