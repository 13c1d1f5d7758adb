// The tracks on the page: zoom, cursor, keys, and what can be taken along.

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { time } from "../format";
import { frameTime, learnFrames } from "../frames";
import type { State } from "../hash";
import type { Connection, Content, End, Frame, Transfer } from "../model";
import type { Go } from "../overview";
import { phases } from "../waterfall";
import { Answers } from "./answers";
import { draw, layout, type Palette, type Scene } from "./figure";
import { actionOf, KEYS } from "./keys";
import { CanvasPainter, SvgPainter } from "./painter";
import { value } from "./scale";
import { Screen } from "./screen";
import { numbersOf } from "./sequence";
import { laneOf, source } from "./series";
import { csv, filter, save } from "./take";

/** Milliseconds of rest before the address and the data follow a movement. */
const REST = 180;
/** With fewer columns in sight there should be something finer. */
const COARSE = 500;
/** The narrowest range, seconds. */
const LEAST = 1e-7;
/** Pixels of a saved picture to one of the page. */
const SHARP = 2;
/** A printed picture's width and height. */
const PRINTED = [1040, 600] as const;
const HINT = "Point at a segment; drag to zoom, Shift-drag to move, double click for all. Keys: ?";

interface Props {
  content: Content;
  connection: Connection;
  transfer: Transfer | null;
  view: State;
  go: Go;
  local: boolean;
}

/** What is shown where nothing is zoomed: the transfer with what went before it. */
function all(connection: Connection, transfer: Transfer | null): [number, number] {
  if (!transfer) return [connection.start_s, connection.start_s + Math.max(connection.duration_s, 1e-6)];
  const waited = transfer.before.reduce((sum, phase) => sum + phase.seconds, 0);
  const from = Math.max(connection.start_s, transfer.start_s - waited);
  const to = transfer.start_s + transfer.duration_s;
  const room = Math.max((to - from) * 0.015, 1e-6);
  return [from - room, to + room];
}

const COLORS = [
  "paper",
  "sheet",
  "ink",
  "dim",
  "line",
  "grid",
  "data",
  "ackline",
  "edge",
  "loss",
  "start",
  "window",
  "program",
  "setup",
  "path",
  "ack",
  "unknown",
  "onfill",
  "cursor",
] as const;

function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(COLORS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Palette;
}

/** Colours for paper, whatever the screen has. */
function palettePrinted(): Palette {
  const { dataset } = document.documentElement;
  const theme = dataset.theme;
  dataset.theme = "light";
  const found = palette();
  if (theme === undefined) delete dataset.theme;
  else dataset.theme = theme;
  return found;
}

function picture(scene: Scene, width: number, height: number, graph: number | null, title: string): string {
  const painter = new SvgPainter();
  draw(painter, scene, width, height, graph);
  return painter.finish(width, height, scene.palette.paper, title);
}

/** Writes terms and what is said of them, without a word to the framework: it happens with every movement of the pointer. */
function say(list: HTMLDListElement, told: [string, string][]): void {
  const rows = told.length === 0 ? [["", HINT] as const] : told;
  if (told.length === 0 && list.children.length === 1 && list.querySelector("dt") === null) return;
  while (list.children.length > rows.length) list.lastElementChild?.remove();
  rows.forEach(([term, said], at) => {
    const row = list.children[at] ?? list.appendChild(document.createElement("div"));
    const [dt, dd] = [row.querySelector("dt"), row.querySelector("dd")];
    if (dt && dd && term !== "") {
      if (dt.textContent !== term) dt.textContent = term;
      if (dd.textContent !== said) dd.textContent = said;
      return;
    }
    const fresh = document.createElement("dd");
    fresh.textContent = said;
    if (term === "") {
      fresh.className = "dim";
      row.replaceChildren(fresh);
    } else {
      const head = document.createElement("dt");
      head.textContent = term;
      row.replaceChildren(head, fresh);
    }
  });
}

export function Tracks({ content, connection, transfer, view, go: tell, local }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [isDrawn, setIsDrawn] = useState(false);
  /** A report holds no finer answer to what is seen. */
  const [isCoarse, setIsCoarse] = useState(false);
  const [why, setWhy] = useState<string | null>(null);
  const [average, setAverage] = useState(0);
  const [interval, setInterval] = useState(0);
  const [countBytes, setCountBytes] = useState(false);
  const [keys, setKeys] = useState(false);
  const [asking, setAsking] = useState(false);
  const from = useMemo(() => source(content, local), [content, local]);
  const side: End = view.from ?? transfer?.from ?? "server";
  const whole = useMemo(() => all(connection, transfer), [connection, transfer]);
  const spans = useMemo(() => (transfer ? phases(transfer) : []), [transfer]);
  // What moves with every frame is kept outside of the state: the page is not laid out again for it.
  const now = useRef({
    zoom: view.zoom ?? whole,
    tall: [0, 1] as [number, number],
    pointer: null as { x: number; y: number } | null,
    drag: null as number | null,
    pan: false,
  });
  const timer = useRef(0);
  /** Moved, and not yet told; whether it is a step that the browser's way back undoes. */
  const pending = useRef<{ step: boolean } | null>(null);
  const told = useRef<[number, number] | null>(null);
  const frame = useRef(0);
  const screen = useRef<Screen | null>(null);
  const answers = useRef<Answers | null>(null);
  const colors = useRef<Palette | null>(null);
  const back = useRef<[number, number][]>([]);
  const readings = useRef<HTMLDListElement>(null);

  /** What is seen now. */
  const scene = useCallback((): Scene => {
    const [start, end] = now.current.zoom;
    const answer = answers.current?.best(start, end) ?? null;
    const lane = laneOf(side);
    colors.current ??= palette();
    return {
      connection,
      transfer,
      spans,
      answer,
      lane,
      from: start,
      to: end,
      tall: now.current.tall,
      absolute: view.absolute,
      numbers: answer && numbersOf(answer, lane, start, end, now.current.tall),
      average,
      interval,
      countBytes,
      palette: colors.current,
    };
  }, [connection, transfer, spans, side, view.absolute, average, interval, countBytes]);

  const paint = useCallback(() => {
    if (frame.current) return;
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      const around = box.current;
      if (!around) return;
      const began = performance.now();
      screen.current ??= new Screen(around);
      const shown = scene();
      screen.current.paint(shown, view.graph);
      cursor();
      answers.current?.want(shown.from, shown.to);
      // A report's own file answers at once: what is coarse now stays so.
      setIsCoarse(
        !local &&
          shown.answer !== null &&
          shown.answer.points === null &&
          shown.to - shown.from < COARSE * shown.answer.width,
      );
      around.dataset.frame = (performance.now() - began).toFixed(1);
      around.dataset.range = `${shown.from}~${shown.to}`;
    });
  }, [scene, view.graph, local]);
  // Who calls back later calls the newest.
  const painter = useRef(paint);
  painter.current = paint;

  /** The line under the pointer, and what is there. */
  const cursor = useCallback(() => {
    const { pointer, drag, pan } = now.current;
    const told = screen.current?.point(pointer && { ...pointer, since: pan ? null : drag }) ?? [];
    if (readings.current) say(readings.current, told);
  }, []);

  /** Goes on in the address; where it was moved to since is told with it. */
  const go = useCallback(
    (change: Partial<State>, keep = false) => {
      clearTimeout(timer.current);
      const moved = pending.current;
      pending.current = null;
      if (change.zoom !== undefined) now.current.zoom = change.zoom ?? whole;
      told.current = now.current.zoom;
      tell(moved ? { zoom: now.current.zoom, ...change } : change, keep && !moved?.step);
      paint();
    },
    [tell, paint, whole],
  );

  /** Goes to a range; at rest the address follows, and with it the page. */
  const move = useCallback(
    (zoom: [number, number], step: boolean) => {
      let [start, end] = zoom;
      if (end - start < LEAST) [start, end] = [(start + end - LEAST) / 2, (start + end + LEAST) / 2];
      if (step) back.current = [...back.current.slice(-99), now.current.zoom];
      now.current.zoom = [start, end];
      paint();
      pending.current = { step: step || (pending.current?.step ?? false) };
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => go({ zoom: now.current.zoom }, true), REST);
    },
    [go, paint],
  );

  // Somebody else has moved: a finding that was clicked, the browser's way back.
  useEffect(() => {
    if (view.zoom === null || view.zoom !== told.current) {
      clearTimeout(timer.current);
      pending.current = null;
      now.current.zoom = view.zoom ?? whole;
    }
    paint();
  }, [view.zoom, whole]);
  useEffect(paint, [paint]);

  useEffect(() => {
    now.current.tall = [0, 1];
  }, [side, connection]);

  // The whole first, which tells which frame passed when; closer looks as they are wanted.
  useEffect(() => {
    const kept = new Answers(
      from,
      connection.id,
      (answer) => {
        if (answer.index.length > 0) learnFrames(connection.id, answer.index);
        setIsDrawn(true);
        painter.current();
      },
      setWhy,
    );
    answers.current = kept;
    kept.start();
    return () => kept.end();
  }, [from, connection]);

  useEffect(
    () => () => {
      cancelAnimationFrame(frame.current);
      clearTimeout(timer.current);
      screen.current?.end();
    },
    [],
  );

  useEffect(() => {
    const around = box.current;
    if (!around) return;
    const watch = new ResizeObserver(() => {
      screen.current?.measure();
      painter.current();
    });
    const recolor = () => {
      colors.current = null;
      painter.current();
    };
    watch.observe(around);
    addEventListener("themechange", recolor);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", recolor);
    return () => {
      watch.disconnect();
      removeEventListener("themechange", recolor);
      dark.removeEventListener("change", recolor);
    };
  }, [why]);

  const zoomBy = useCallback(
    (factor: number, at = 0.5, step = true) => {
      const [start, end] = now.current.zoom;
      const center = start + (end - start) * at;
      move([center - (center - start) * factor, center + (end - center) * factor], step);
    },
    [move],
  );
  const panBy = useCallback(
    (share: number) => {
      const [start, end] = now.current.zoom;
      move([start + (end - start) * share, end + (end - start) * share], false);
    },
    [move],
  );
  const tallBy = useCallback(
    (factor: number, shift: number) => {
      const [low, high] = now.current.tall;
      const [middle, half] = [(low + high) / 2 + shift * (high - low), ((high - low) / 2) * factor];
      now.current.tall = half >= 0.5 && shift === 0 ? [0, 1] : [middle - half, middle + half];
      paint();
    },
    [paint],
  );
  const toFrame = useCallback(
    (wanted: Frame) => {
      const at = frameTime(connection, wanted);
      if (at === null) return;
      const half = Math.min(
        (now.current.zoom[1] - now.current.zoom[0]) / 2,
        Math.max((connection.rtt_ms.p50 ?? 100) / 1e3 / 2, 1e-4),
      );
      move([at - half, at + half], true);
    },
    [connection, move],
  );
  const others = useMemo(() => content.analysis.connections.map((one) => one.id), [content]);

  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) ||
        document.querySelector("dialog[open]")
      )
        return;
      const action = actionOf(event.key);
      if (!action) return;
      // Arrows scroll the page unless the graphs have the focus.
      if (action.needsFocus && !box.current?.parentElement?.contains(target) && target !== document.body) return;
      event.preventDefault();
      switch (action.does) {
        case "zoom":
          return zoomBy(action.by);
        case "tall":
          return tallBy(action.by, 0);
        case "pan":
          return panBy(action.by);
        case "lift":
          return tallBy(1, action.by);
        case "reset":
          now.current.tall = [0, 1];
          back.current = [];
          return go({ zoom: null });
        case "back": {
          const last = back.current.pop();
          if (!last) return;
          return go({ zoom: last[0] === whole[0] && last[1] === whole[1] ? null : last }, true);
        }
        case "direction":
          return go({ from: side === "client" ? "server" : "client" });
        case "absolute":
          return go({ absolute: !view.absolute });
        case "graph":
          return go({ graph: view.graph === action.by ? null : action.by });
        case "frame":
          return setAsking(true);
        case "keys":
          return setKeys((old) => !old);
        case "connection": {
          const next = others[others.indexOf(connection.id) + action.by];
          if (next !== undefined) go({ connection: next, transfer: null, zoom: null, from: null });
        }
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [zoomBy, tallBy, panBy, go, whole, side, view.absolute, view.graph, others, connection]);

  const spot = (event: MouseEvent) => {
    const bounds = box.current?.getBoundingClientRect();
    return { x: event.clientX - (bounds?.left ?? 0), y: event.clientY - (bounds?.top ?? 0) };
  };
  const scaleNow = () => {
    const around = box.current;
    const [start, end] = now.current.zoom;
    return layout(around?.clientWidth ?? 1, around?.clientHeight ?? 1, start, end, view.graph).x;
  };
  const down = (event: PointerEvent) => {
    if (event.button > 1) return;
    box.current?.setPointerCapture(event.pointerId);
    now.current.drag = spot(event).x;
    now.current.pan = event.shiftKey || event.button === 1;
  };
  const moved = (event: PointerEvent) => {
    const here = spot(event);
    if (now.current.drag !== null && now.current.pan) {
      const x = scaleNow();
      const shift = value(x, now.current.drag) - value(x, here.x);
      now.current.drag = here.x;
      const [start, end] = now.current.zoom;
      move([start + shift, end + shift], false);
    }
    now.current.pointer = here;
    cursor();
  };
  const up = (event: PointerEvent) => {
    const { drag, pan } = now.current;
    now.current.drag = null;
    const here = spot(event).x;
    if (drag !== null && !pan && Math.abs(here - drag) > 4) {
      const x = scaleNow();
      const inside = (at: number) => value(x, Math.max(x.at[0], Math.min(x.at[1], at)));
      move([inside(Math.min(drag, here)), inside(Math.max(drag, here))], true);
    }
    cursor();
  };
  const left = () => {
    now.current.pointer = null;
    cursor();
  };
  useEffect(() => {
    const around = box.current;
    // The page scrolls as ever; with Ctrl, or once the graphs have the focus, the wheel zooms.
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && document.activeElement !== around) return;
      event.preventDefault();
      const x = scaleNow();
      const at = Math.max(0, Math.min(1, (spot(event).x - x.at[0]) / (x.at[1] - x.at[0])));
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        panBy((event.deltaX || event.deltaY) / 800);
      else zoomBy(Math.exp(event.deltaY * 0.002), at, false);
    };
    around?.addEventListener("wheel", wheel, { passive: false });
    return () => around?.removeEventListener("wheel", wheel);
  }, [zoomBy, panBy, view.graph]);

  const name = `connection-${connection.id}`;
  const title = `${content.name}, connection ${connection.id}`;
  const range = () => now.current.zoom;
  const svg = () => {
    const { clientWidth: width = 1000, clientHeight: height = 700 } = box.current ?? {};
    save(`${name}.svg`, new Blob([picture(scene(), width, height, view.graph, title)], { type: "image/svg+xml" }));
  };
  const png = () => {
    const { clientWidth: width = 1000, clientHeight: height = 700 } = box.current ?? {};
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width * SHARP, height * SHARP];
    const pen = canvas.getContext("2d");
    if (!pen) return;
    pen.scale(SHARP, SHARP);
    draw(new CanvasPainter(pen), scene(), width, height, view.graph);
    canvas.toBlob((blob) => blob && save(`${name}.png`, blob));
  };
  const table = () => {
    const { answer } = scene();
    if (answer) save(`${name}.csv`, new Blob([csv(answer, ...range())], { type: "text/csv" }));
  };
  // Paper takes lines, not pixels, and has its own width.
  const printed = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const print = () => {
      if (!printed.current || !answers.current) return;
      const text = picture({ ...scene(), palette: palettePrinted() }, ...PRINTED, view.graph, title);
      printed.current.replaceChildren(new DOMParser().parseFromString(text, "image/svg+xml").documentElement);
    };
    addEventListener("beforeprint", print);
    return () => removeEventListener("beforeprint", print);
  }, [scene, view.graph, title]);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(filter(connection, ...range()));
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const [start, end] = view.zoom ?? whole;

  return (
    <section class="tracks" id="tracks" aria-label="What happened in time">
      <div class="tools">
        <div class="group" role="group" aria-label="Zoom">
          <button type="button" onClick={() => zoomBy(0.5)} title="Zoom in: + or i" aria-label="Zoom in">
            +
          </button>
          <button type="button" onClick={() => zoomBy(2)} title="Zoom out: − or o" aria-label="Zoom out">
            −
          </button>
          <button
            type="button"
            onClick={() => {
              now.current.tall = [0, 1];
              go({ zoom: null });
            }}
            title="All of it: 0"
          >
            all
          </button>
        </div>
        <button
          type="button"
          onClick={() => go({ from: side === "client" ? "server" : "client" })}
          title="The other direction: d"
        >
          from the {side}
        </button>
        <button
          type="button"
          aria-pressed={view.absolute}
          onClick={() => go({ absolute: !view.absolute })}
          title="Sequence numbers as on the wire, or from 0: s"
        >
          {view.absolute ? "absolute" : "relative"}
        </button>
        <label>
          graph{" "}
          <select
            value={view.graph ?? 0}
            onChange={(event) => go({ graph: Number(event.currentTarget.value) || null })}
          >
            {["all", "1 sequence", "2 in flight", "3 RTT", "4 rates", "5 window", "6 packets"].map((label, at) => (
              <option key={label} value={at}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label title="The sliding window of throughput and goodput">
          rates over{" "}
          <select value={average} onChange={(event) => setAverage(Number(event.currentTarget.value))}>
            {[0, 0.001, 0.01, 0.1, 1, 10].map((one) => (
              <option key={one} value={one}>
                {one === 0 ? "what fits" : time(one)}
              </option>
            ))}
          </select>
        </label>
        <label title="Packets or bytes in each interval">
          <select
            value={countBytes ? 1 : 0}
            onChange={(event) => setCountBytes(event.currentTarget.value === "1")}
            aria-label="Packets or bytes"
          >
            <option value={0}>packets</option>
            <option value={1}>bytes</option>
          </select>{" "}
          per{" "}
          <select value={interval} onChange={(event) => setInterval(Number(event.currentTarget.value))}>
            {[0, 0.001, 0.01, 0.1, 1, 10].map((one) => (
              <option key={one} value={one}>
                {one === 0 ? "what fits" : time(one)}
              </option>
            ))}
          </select>
        </label>
        <span class="right group" role="group" aria-label="Take along">
          <button type="button" onClick={() => void copy()} title="A display filter for what is seen">
            {copied ? "copied" : "Wireshark filter"}
          </button>
          {local && (
            <a
              class="button"
              href={`slice?c=${connection.id}&from=${start}&to=${end}`}
              download={`${name}.pcapng`}
              title="The packets that are seen, as a capture"
            >
              pcapng
            </a>
          )}
          <button type="button" onClick={svg} disabled={!isDrawn} title="The picture, to scale">
            SVG
          </button>
          <button type="button" onClick={png} disabled={!isDrawn} title="The picture">
            PNG
          </button>
          <button type="button" onClick={table} disabled={!isDrawn} title="The figures that are seen">
            CSV
          </button>
        </span>
        <button type="button" aria-expanded={keys} onClick={() => setKeys(!keys)} title="Keys: ?" aria-label="Keys">
          ?
        </button>
      </div>
      {keys && (
        <dl class="keys">
          {KEYS.map(([key, does]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      )}
      {asking && <GoTo close={() => setAsking(false)} go={toFrame} />}
      {why !== null ? (
        <p class="nograph" role="status">
          No graphs: {why}
        </p>
      ) : (
        <div
          ref={box}
          class={view.graph === null ? "figure" : "figure single"}
          tabIndex={0}
          role="group"
          aria-busy={!isDrawn}
          aria-label={`Graphs of connection ${connection.id}, data of the ${side}. Plus and minus zoom, arrows move, question mark lists all keys.`}
          onPointerDown={down}
          onPointerMove={moved}
          onPointerUp={up}
          onPointerLeave={left}
          onDblClick={() => go({ zoom: null })}
        />
      )}
      {isCoarse && (
        <p class="coarse dim" role="status">
          This file holds nothing finer here: `whyslow view` of the capture shows every packet.
        </p>
      )}
      <div ref={printed} class="printed" aria-hidden="true" />
      <dl ref={readings} class="readout" aria-label="Under the pointer" />
    </section>
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
        Frame{" "}
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
