// The tracks on the page: the figure, the bar above it, and the values under the pointer.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Connection, End, Frame, Transfer } from "../model";
import { t, word } from "../texts";
import { Printed } from "./export-menu";
import { useKeyboard } from "./keyboard";
import { KEYS } from "./keys";
import { type Counts, type Figure, type Props, type Range, useFigure } from "./live";
import { Minimap } from "./minimap";
import { type Movement, useMovement } from "./movement";
import { PacketPanel, type Picked, pick } from "./packet";
import { usePointer } from "./pointer";
import { Tools } from "./tools";

/** What is shown where nothing is zoomed: the transfer with what went before it. */
function all(connection: Connection, transfer: Transfer | null): Range {
  if (!transfer) return [connection.start_s, connection.start_s + Math.max(connection.duration_s, 1e-6)];
  const waited = transfer.before.reduce((sum, phase) => sum + phase.seconds, 0);
  const from = Math.max(connection.start_s, transfer.start_s - waited);
  const to = transfer.start_s + transfer.duration_s;
  const room = Math.max((to - from) * 0.015, 1e-6);
  return [from - room, to + room];
}

export function Tracks(props: Props) {
  const { connection, transfer, view } = props;
  const [counts, setCounts] = useState<Counts>({ average: 0, interval: 0, countBytes: false });
  const [hasKeys, setHasKeys] = useState(false);
  const [asking, setAsking] = useState(false);
  const [picked, setPicked] = useState<Picked | null>(null);
  const [since, setSince] = useState<Picked | null>(null);
  // Another transfer's packets are others.
  useEffect(() => {
    setPicked(null);
    setSince(null);
  }, [connection, transfer]);
  const side: End = view.from ?? transfer?.from ?? "server";
  const whole = useMemo(() => all(connection, transfer), [connection, transfer]);
  const figure = useFigure(props, side, whole, counts);
  const movement = useMovement(figure, props, whole);
  const toggleKeys = () => setHasKeys((old) => !old);
  useEffect(() => {
    if (!hasKeys) return;
    // An open dialog takes its Escape alone.
    const pressed = (event: KeyboardEvent) =>
      event.key === "Escape" && document.querySelector("dialog[open]") === null && setHasKeys(false);
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [hasKeys]);
  const measure = () => setSince(picked);
  useKeyboard(figure.live, { props, side, movement, ask: () => setAsking(true), toggleKeys, measure });
  const click = (at: { x: number; y: number }) => {
    const { screen } = figure.live;
    const index = screen?.at(at) ?? null;
    if (screen?.scene && index !== null) setPicked(pick(screen.scene, index));
  };
  return (
    <section class="tracks" id="tracks" aria-label={t`Graphs over time`}>
      <Tools {...{ props, figure, movement, side, whole, counts, setCounts, hasKeys, toggleKeys }} />
      {hasKeys && <KeyList />}
      {asking && <GoTo close={() => setAsking(false)} go={movement.toFrame} />}
      <Minimap connection={connection} live={figure.live} movement={movement} />
      <Graphs {...{ props, figure, movement, side, click }} />
      {figure.isCoarse && (
        <p class="coarse dim" role="status">
          {t`This file holds nothing finer here: \`whyslow view\` of the capture shows every packet.`}
        </p>
      )}
      <Printed props={props} figure={figure} />
      <dl ref={figure.live.readings} class="readout" aria-label={t`Under the pointer`} />
      {picked && (
        <PacketPanel
          packet={picked}
          since={since}
          connection={connection.id}
          queryClient={props.queryClient}
          measure={measure}
          close={() => setPicked(null)}
        />
      )}
    </section>
  );
}

function Graphs({
  props,
  figure,
  movement,
  side,
  click,
}: {
  props: Props;
  figure: Figure;
  movement: Movement;
  side: End;
  click: (at: { x: number; y: number }) => void;
}) {
  const { live, isDrawn, why } = figure;
  const { graph } = props.view;
  const pointer = usePointer(live, movement, graph, click);
  if (why !== null) {
    return (
      <p class="nograph" role="status">
        {t`No graphs: ${why}`}
      </p>
    );
  }
  return (
    <div
      ref={live.box}
      class={graph === null ? "figure" : "figure single"}
      tabIndex={0}
      role="group"
      aria-busy={!isDrawn}
      aria-label={t`Graphs of connection ${props.connection.id}, data of the ${word(side)}. Plus and minus zoom, arrows move, question mark lists all keys.`}
      {...pointer}
      onDblClick={() => movement.go({ zoom: null })}
    />
  );
}

/** What the letters and lines on the sequence numbers mean. */
const SIGNS: [string, string][] = [
  ["|", "a segment, from its first byte to its last; a diamond is PSH"],
  ["F", "fast retransmission, after duplicate ACKs or SACKs"],
  ["T", "retransmission by the timer"],
  ["P", "tail loss probe"],
  ["S", "spurious retransmission: the first copy had arrived"],
  ["O", "out of order"],
  ["W K", "window probe, keep-alive"],
  ["d 8d", "duplicate ACK; eight of them"],
  ["¦ D", "SACK block; duplicate SACK"],
  ["Z", "the window is closed, as long as the band"],
  ["CE ECE CWR", "congestion: marked, echoed, answered"],
  ["SYN FIN RST", "the connection begins, ends, is reset"],
];

function KeyList() {
  return (
    <dl class="keys">
      {SIGNS.map(([sign, means]) => (
        <div key={sign}>
          <dt>{sign}</dt>
          <dd>{word(means)}</dd>
        </div>
      ))}
      {KEYS.map(([key, does]) => (
        <div key={key}>
          <dt>
            <kbd>{word(key)}</kbd>
          </dt>
          <dd>{word(does)}</dd>
        </div>
      ))}
    </dl>
  );
}

function GoTo({ close, go }: { close: () => void; go: (frame: Frame) => void }) {
  const input = useRef<HTMLInputElement>(null);
  // Before the next key is pressed.
  useLayoutEffect(() => input.current?.focus(), []);
  return (
    <form
      class="goto"
      onSubmit={(event) => {
        event.preventDefault();
        // Of several captures: which, and its frame.
        const wanted = input.current?.value.trim() ?? "";
        if (/^([1-9]\d*:)?[1-9]\d*$/.test(wanted)) go(wanted.includes(":") ? wanted : Number(wanted));
        close();
      }}
    >
      <label>
        {t`Frame`}{" "}
        <input
          ref={input}
          inputMode="numeric"
          pattern="([0-9]+:)?[0-9]+"
          onBlur={close}
          onKeyDown={(event) => event.key === "Escape" && close()}
        />
      </label>
    </form>
  );
}
