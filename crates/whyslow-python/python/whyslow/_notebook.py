"""An analysis as HTML, for notebooks: the verdict, a picture, the transfers that cost most."""

from html import escape

# Transfers that are listed.
MOST = 10


def html(analysis, picture):
    """`picture` is SVG, or empty."""
    advice = f"<p>{escape(analysis.advice)}</p>" if analysis.advice else ""
    verdict = f"<p><b>{escape(analysis.verdict)}</b></p>"
    return f"<div>{verdict}{advice}{picture}{_transfers(analysis)}</div>"


def _transfers(analysis):
    listed = [
        (transfer.findings[0].cost_s if transfer.findings else 0.0, connection, transfer)
        for connection in analysis.connections
        for transfer in connection.transfers
    ]
    listed.sort(key=lambda one: -one[0])
    if not listed:
        return ""
    rows = "".join(_row(connection, transfer) for _, connection, transfer in listed[:MOST])
    more = f"<p>and {len(listed) - MOST:,} more transfers</p>" if len(listed) > MOST else ""
    titles = "".join(
        f"<th>{title}</th>"
        for title in ("connection", "server", "from", "bytes", "seconds", "cause")
    )
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _row(connection, transfer):
    server = connection.server.name or connection.server.address
    cells = (
        str(connection.id),
        f"{server}:{connection.server.port}",
        transfer.__dict__["from"],
        f"{transfer.bytes:,}",
        f"{transfer.duration_s:.3f}",
        transfer.findings[0].cause if transfer.findings else transfer.verdict,
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
