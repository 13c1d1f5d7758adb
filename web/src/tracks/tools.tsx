// The bar above the figure.

import { time } from "../format";
import type { End } from "../model";
import { TakeAlong } from "./export-menu";
import type { Counts, Figure, Props, Range } from "./live";
import type { Movement } from "./movement";

const GRAPHS = ["all", "1 sequence", "2 in flight", "3 RTT", "4 rates", "5 window", "6 packets"];
/** Seconds; 0 is what fits. */
const SPANS = [0, 0.001, 0.01, 0.1, 1, 10];

export interface Bar {
  props: Props;
  figure: Figure;
  movement: Movement;
  side: End;
  whole: Range;
  counts: Counts;
  setCounts: (counts: Counts) => void;
  hasKeys: boolean;
  toggleKeys: () => void;
}

export function Tools(bar: Bar) {
  const { props, figure, movement, side, whole, hasKeys, toggleKeys } = bar;
  const { go } = movement;
  const { view } = props;
  return (
    <div class="tools">
      <Zoom {...movement} />
      <button
        type="button"
        onClick={() => go({ from: side === "client" ? "server" : "client", tall: null })}
        title="The other direction: d"
      >
        data of the {side}
      </button>
      <button
        type="button"
        aria-pressed={view.absolute}
        onClick={() => go({ absolute: !view.absolute })}
        title="Sequence numbers as on the wire, or from 0: s"
      >
        seq {view.absolute ? "as on the wire" : "from 0"}
      </button>
      <label>
        graph{" "}
        <select value={view.graph ?? 0} onChange={(event) => go({ graph: Number(event.currentTarget.value) || null })}>
          {GRAPHS.map((label, at) => (
            <option key={label} value={at}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <Sums {...bar} />
      <TakeAlong props={props} figure={figure} whole={whole} />
      <button type="button" aria-expanded={hasKeys} onClick={toggleKeys} title="Keys, and what the signs mean: ?">
        legend ?
      </button>
    </div>
  );
}

function Zoom({ zoomBy, all }: Movement) {
  return (
    <div class="group" role="group" aria-label="Zoom">
      <button type="button" onClick={() => zoomBy(0.5)} title="Zoom in: + or i" aria-label="Zoom in">
        +
      </button>
      <button type="button" onClick={() => zoomBy(2)} title="Zoom out: − or o" aria-label="Zoom out">
        −
      </button>
      <button type="button" onClick={all} title="All of it: 0">
        all
      </button>
    </div>
  );
}

/** Over how long rates are averaged, and what is counted in which intervals. */
function Sums({ counts, setCounts }: Bar) {
  const { average, interval, countBytes } = counts;
  return (
    <>
      <label title="The sliding window of throughput and goodput; auto: by the zoom">
        average rates over <Seconds value={average} choose={(average) => setCounts({ ...counts, average })} />
      </label>
      <label title="Packets or bytes in each interval">
        <select
          value={countBytes ? 1 : 0}
          onChange={(event) => setCounts({ ...counts, countBytes: event.currentTarget.value === "1" })}
          aria-label="Packets or bytes"
        >
          <option value={0}>packets</option>
          <option value={1}>bytes</option>
        </select>{" "}
        per <Seconds value={interval} choose={(interval) => setCounts({ ...counts, interval })} />
      </label>
    </>
  );
}

function Seconds({ value, choose }: { value: number; choose: (seconds: number) => void }) {
  return (
    <select value={value} onChange={(event) => choose(Number(event.currentTarget.value))}>
      {SPANS.map((one) => (
        <option key={one} value={one}>
          {one === 0 ? "auto" : time(one)}
        </option>
      ))}
    </select>
  );
}
