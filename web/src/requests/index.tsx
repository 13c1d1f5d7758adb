// What a probe asked for: each request's steps, and the kernel's account of it.

import { bytes, count, figure, rate, time } from "../format";
import { place, type Scale, ticks, tickTime } from "../tracks/scale";
import type { Go } from "../url-state";
import { type Line, lines } from "./account";
import type { Probe } from "./model";
import { phases } from "./phases";
import type { Hop, Request } from "./probe";
import "./requests.css";
import { t, word } from "../texts";

/** A chart's own units: it is as wide as its place. */
const WIDE = 600;
const HIGH = 54;
const FOOT = 16;

export function Requests({ probe, go }: { probe: Probe; go: Go }) {
  return (
    <section aria-labelledby="requests">
      <h2 id="requests">{t`${count(probe.requests.length, "request")} made by the probe`}</h2>
      {probe.requests.map((request, index) => (
        <OneRequest key={index} request={request} isOpen={probe.requests.length <= 3} go={go} />
      ))}
    </section>
  );
}

function OneRequest({ request, isOpen, go }: { request: Request; isOpen: boolean; go: Go }) {
  const { failure, hops = [], floor, connection } = request;
  const last = hops[hops.length - 1];
  if (failure || !last) {
    return (
      <p class="request failed">
        <b>{request.url}</b> {failure ? `${failure.what} (${failure.phase})` : t`no response`}
      </p>
    );
  }
  const total = hops.reduce((sum, hop) => sum + hop.times.total_s, 0);
  return (
    <details class="request" open={isOpen}>
      <summary>
        <b>{request.url}</b> <span>{last.status}</span>{" "}
        <span class="dim">
          HTTP/{last.http}
          {last.tls && `, TLS ${last.tls.version}`}
          {last.reused ? t`, open connection` : t`, new connection`}
          {last.sent_bytes > 0 && t`, ${bytes(last.sent_bytes)} sent`}
          {t`, ${bytes(last.body_bytes)} received`}
        </span>{" "}
        <b class="total">{time(total)}</b>
      </summary>
      {hops.map((hop, index) => (
        <HopView key={index} hop={hop} named={hops.length > 1} />
      ))}
      <p class="dim">
        {floor && (
          <>
            {t`at least ${time(floor.seconds)}: one round trip of ${time(floor.rtt_s)}`}
            {floor.rate_bps !== null && t` and the bytes at ${rate(floor.rate_bps)}`}
            {floor.rest.length > 0 && t`; the rest: `}
            {floor.rest.map((rest) => `${word(rest.what)} ${time(rest.seconds)}`).join(t`, `)}
          </>
        )}
        {connection != null && (
          <>
            {floor && " · "}
            <a
              href="#"
              onClick={(event) => {
                event.preventDefault();
                go({ connection });
              }}
            >
              {t`its packets`}
            </a>
          </>
        )}
      </p>
    </details>
  );
}

function HopView({ hop, named }: { hop: Hop; named: boolean }) {
  const x: Scale = { low: 0, high: hop.times.total_s, at: [0, WIDE] };
  return (
    <div class="hop">
      {named && (
        <p>
          {hop.url}: {hop.status}
        </p>
      )}
      {hop.proxy !== null && (
        <p class="problem">{t`through the proxy ${hop.proxy}: times are between this machine and the proxy`}</p>
      )}
      <Steps hop={hop} />
      <Account hop={hop} x={x} />
    </div>
  );
}

function Steps({ hop }: { hop: Hop }) {
  const total = hop.times.total_s;
  return (
    <div class="waterfall" role="table" aria-label={t`Steps of the request`}>
      {phases(hop).map(({ name, group, from, to }) => (
        <div role="row" key={name}>
          <span role="rowheader">{name}</span>
          <span role="cell" class="lane">
            <i
              class={`span ${group}`}
              style={{ left: `${(100 * from) / total}%`, width: `${(100 * (to - from)) / total}%` }}
            />
          </span>
          <span role="cell" class="number">
            {time(to - from)}
          </span>
          <span role="cell" class="number dim">
            {time(to)}
          </span>
        </div>
      ))}
    </div>
  );
}

/** A small chart for each figure, on one time axis with the steps above. */
function Account({ hop, x }: { hop: Hop; x: Scale }) {
  const drawn = lines(hop);
  if (drawn.length === 0) return null;

  return (
    <div class="account">
      <h3>
        {hop.sent_bytes > 0
          ? t`The kernel’s account (TCP_INFO), as the sender`
          : t`The kernel’s account (TCP_INFO), as the receiver`}
      </h3>
      {drawn.map((line, index) => (
        <Chart key={line.name} line={line} x={x} isLast={index === drawn.length - 1} />
      ))}
    </div>
  );
}

/** Words at an edge stay within it. */
const edge = (share: number) => (share < 0.02 ? "first" : share > 0.97 ? "last" : "");

function Chart({ line, x, isLast }: { line: Line; x: Scale; isLast: boolean }) {
  const most = Math.max(...line.points.map(([, value]) => value));
  const y: Scale = { low: 0, high: most, at: [HIGH - 1, 2] };
  const times = ticks(0, x.high, 6);
  const step = (times[1] ?? x.high) - (times[0] ?? 0);
  // A figure holds until the next sample.
  const path = line.points
    .map(([at, value], index) => {
      const [left, top] = [place(x, at).toFixed(1), place(y, value).toFixed(1)];
      return index === 0 ? `M${left} ${top}` : `H${left}V${top}`;
    })
    .join("");
  const end = `H${WIDE}`;
  const first = line.points[0];
  const left = first ? place(x, first[0]).toFixed(1) : "0";
  const high = isLast ? HIGH + FOOT : HIGH;
  return (
    <div class="line">
      <span class="name">{line.name}</span>
      <div class="plot" style={{ height: `${high}px` }}>
        <svg
          viewBox={`0 0 ${WIDE} ${HIGH}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t`${line.name} over time, at most ${figure(most, line.unit)}`}
          style={{ height: `${HIGH}px` }}
        >
          {times.map((at) => (
            <line key={at} class="gridline" x1={place(x, at)} x2={place(x, at)} y1={0} y2={HIGH} />
          ))}
          <path class="area" d={`${path}${end}V${HIGH}H${left}Z`} />
          <path class="stroke" d={`${path}${end}`} vector-effect="non-scaling-stroke" />
        </svg>
        {isLast &&
          times.map((at) => (
            <span key={at} class={`tick ${edge(at / x.high)}`} style={{ left: `${(100 * at) / x.high}%` }}>
              {tickTime(at, step)}
            </span>
          ))}
      </div>
      <span class="number">
        {figure(most, line.unit)} <span class="dim">{t`at most`}</span>
      </span>
    </div>
  );
}
