// What can be taken along: a filter, the packets, pictures, the figures, a print.

import { useEffect, useRef, useState } from "preact/hooks";
import { answerOf, type QueryClient } from "../query-client";
import { t } from "../texts";
import { palettePrinted } from "./colors";
import { csv, filter, save } from "./export";
import { draw, type Scene } from "./figure";
import type { Figure, Props, Range } from "./live";
import { CanvasPainter, SvgPainter } from "./painter";

/** Pixels of a saved picture to one of the page. */
const SHARP = 2;
/** A printed picture's width and height. */
const PRINTED: Size = [1040, 600];

/** Width and height, pixels. */
type Size = [number, number];

const titleOf = ({ content, connection }: Props) => t`${content.name}, connection ${connection.id}`;

function svgOf(scene: Scene, [width, height]: Size, graph: number | null, title: string): string {
  const painter = new SvgPainter();
  draw(painter, scene, width, height, graph);
  return painter.finish(width, height, scene.palette.paper, title);
}

function savePng(name: string, scene: Scene, [width, height]: Size, graph: number | null): void {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * SHARP, height * SHARP];
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(SHARP, SHARP);
  draw(new CanvasPainter(pen), scene, width, height, graph);
  canvas.toBlob((blob) => blob && save(name, blob));
}

export function TakeAlong({ props, figure, whole }: { props: Props; figure: Figure; whole: Range }) {
  const { connection, view, queryClient } = props;
  const { live, scene, isDrawn } = figure;
  const [copied, setCopied] = useState(false);
  const name = `connection-${connection.id}`;
  const size = (): Size => {
    const { clientWidth = 1000, clientHeight = 700 } = live.box.current ?? {};
    return [clientWidth, clientHeight];
  };
  const copy = async () => {
    await navigator.clipboard.writeText(filter(connection, ...live.zoom));
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const svg = () => {
    const text = svgOf(scene(), size(), view.graph, titleOf(props));
    save(`${name}.svg`, new Blob([text], { type: "image/svg+xml" }));
  };
  const table = () => {
    const { answer } = scene();
    if (answer) save(`${name}.csv`, new Blob([csv(answer, ...live.zoom)], { type: "text/csv" }));
  };
  const [start, end] = view.zoom ?? whole;
  const slice = `slice?c=${connection.id}&from=${start}&to=${end}`;
  return (
    <span class="right group" role="group" aria-label={t`Export`}>
      {!props.content.watch && (
        <button type="button" onClick={() => void copy()} title={t`A display filter for the visible range`}>
          {copied ? t`copied` : t`Wireshark filter`}
        </button>
      )}
      {queryClient && <SaveSlice queryClient={queryClient} question={slice} name={`${name}.pcapng`} />}
      <Save onClick={svg} isDrawn={isDrawn} title={t`The picture, to scale`} what="SVG" />
      <Save
        onClick={() => savePng(`${name}.png`, scene(), size(), view.graph)}
        isDrawn={isDrawn}
        title={t`The picture`}
        what="PNG"
      />
      <Save onClick={table} isDrawn={isDrawn} title={t`The figures of the visible range`} what="CSV" />
    </span>
  );
}

/** What may be larger than memory the browser fetches itself, where it can. */
function SaveSlice({ queryClient, question, name }: { queryClient: QueryClient; question: string; name: string }) {
  const title = t`The packets of the visible range, as a capture`;
  const fetched = async () => save(name, await (await answerOf(queryClient, question)).blob());
  return queryClient.hasAddresses ? (
    <a class="button" href={question} download={name} title={title}>
      pcapng
    </a>
  ) : (
    <button type="button" onClick={() => void fetched()} title={title}>
      pcapng
    </button>
  );
}

function Save(props: { onClick: () => void; isDrawn: boolean; title: string; what: string }) {
  return (
    <button type="button" onClick={props.onClick} disabled={!props.isDrawn} title={props.title}>
      {props.what}
    </button>
  );
}

/** The figure on paper, which takes lines, not pixels, and has its own width. */
export function Printed({ props, figure }: { props: Props; figure: Figure }) {
  const { live, scene } = figure;
  const { graph } = props.view;
  const title = titleOf(props);
  const printed = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const print = () => {
      if (!printed.current || !live.answers) return;
      const text = svgOf({ ...scene(), palette: palettePrinted() }, PRINTED, graph, title);
      printed.current.replaceChildren(new DOMParser().parseFromString(text, "image/svg+xml").documentElement);
    };
    addEventListener("beforeprint", print);
    return () => removeEventListener("beforeprint", print);
  }, [scene, graph, title]);
  return <div ref={printed} class="printed" aria-hidden="true" />;
}
