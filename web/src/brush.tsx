// The ends of the list's timeline; a range that is drawn between them lists what ran in it.

import { useRef, useState } from "preact/hooks";
import { time } from "./format";
import { t } from "./texts";

interface Props {
  /** Seconds from the first packet. */
  span: [number, number];
  choose: (from: number, to: number) => void;
}

/** Shorter ranges, as shares of the width, are clicks. */
const LEAST = 0.01;

export function Brush({ span: [from, to], choose }: Props) {
  const box = useRef<HTMLSpanElement>(null);
  const [range, setRange] = useState<[number, number] | null>(null);
  const share = (event: PointerEvent): number => {
    const { left = 0, width = 1 } = box.current?.getBoundingClientRect() ?? {};
    return Math.min(1, Math.max(0, (event.clientX - left) / (width || 1)));
  };
  const end = () => {
    setRange(null);
    if (range === null || Math.abs(range[1] - range[0]) < LEAST) return;
    const at = (share: number) => from + share * (to - from);
    choose(at(Math.min(...range)), at(Math.max(...range)));
  };
  return (
    <span
      ref={box}
      class="scale dim brush"
      aria-hidden="true"
      title={t`Drag to list what ran in a range of time`}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        box.current?.setPointerCapture(event.pointerId);
        setRange([share(event), share(event)]);
      }}
      onPointerMove={(event) => setRange((old) => old && [old[0], share(event)])}
      onPointerUp={end}
      onPointerCancel={() => setRange(null)}
    >
      <span>{time(from)}</span>
      <span>{time(to)}</span>
      {range && (
        <i
          style={{
            left: `${100 * Math.min(...range)}%`,
            width: `${100 * Math.abs(range[1] - range[0])}%`,
          }}
        />
      )}
    </span>
  );
}
