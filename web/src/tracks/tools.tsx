// The bar above the figure.

import { time } from "../format";
import type { End } from "../model";
import { t, word } from "../texts";
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
        title={t`The other direction: d`}
      >
        {t`data of the ${word(side)}`}
      </button>
      <button
        type="button"
        aria-pressed={view.absolute}
        onClick={() => go({ absolute: !view.absolute })}
        title={t`Sequence numbers as on the wire, or from 0: s`}
      >
        {view.absolute ? t`seq as on the wire` : t`seq from 0`}
      </button>
      <label>
        {t`graph`}{" "}
        <select value={view.graph ?? 0} onChange={(event) => go({ graph: Number(event.currentTarget.value) || null })}>
          {GRAPHS.map((label, at) => (
            <option key={label} value={at}>
              {word(label)}
            </option>
          ))}
        </select>
      </label>
      <Sums {...bar} />
      <TakeAlong props={props} figure={figure} whole={whole} />
      <button type="button" aria-expanded={hasKeys} onClick={toggleKeys} title={t`Keys and signs: ?`}>
        {t`legend ?`}
      </button>
    </div>
  );
}

function Zoom({ zoomBy, all }: Movement) {
  return (
    <div class="group" role="group" aria-label={t`Zoom`}>
      <button type="button" onClick={() => zoomBy(0.5)} title={t`Zoom in: + or i`} aria-label={t`Zoom in`}>
        +
      </button>
      <button type="button" onClick={() => zoomBy(2)} title={t`Zoom out: − or o`} aria-label={t`Zoom out`}>
        −
      </button>
      <button type="button" onClick={all} title={t`The whole range: 0`}>
        {t`all`}
      </button>
    </div>
  );
}

/** Over how long rates are averaged, and what is counted in which intervals. */
function Sums({ counts, setCounts }: Bar) {
  const { average, interval, countBytes } = counts;
  return (
    <>
      <label title={t`The sliding window of throughput and goodput; auto: by the zoom`}>
        {t`average rates over`} <Seconds value={average} choose={(average) => setCounts({ ...counts, average })} />
      </label>
      <label title={t`Packets or bytes in each interval`}>
        <select
          value={countBytes ? 1 : 0}
          onChange={(event) => setCounts({ ...counts, countBytes: event.currentTarget.value === "1" })}
          aria-label={t`Packets or bytes`}
        >
          <option value={0}>{t`packets`}</option>
          <option value={1}>{t`bytes`}</option>
        </select>{" "}
        {t`per`} <Seconds value={interval} choose={(interval) => setCounts({ ...counts, interval })} />
      </label>
    </>
  );
}

function Seconds({ value, choose }: { value: number; choose: (seconds: number) => void }) {
  return (
    <select value={value} onChange={(event) => choose(Number(event.currentTarget.value))}>
      {SPANS.map((one) => (
        <option key={one} value={one}>
          {one === 0 ? t`auto` : time(one)}
        </option>
      ))}
    </select>
  );
}
