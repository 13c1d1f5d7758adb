"""The JSON as objects, and as lists of a table's."""

import json
from types import SimpleNamespace


def attributes(text):
    return json.loads(text, object_hook=lambda members: SimpleNamespace(**members))


def listed(document, name):
    connections = document.connections
    transfers = [transfer for connection in connections for transfer in connection.transfers]
    match name:
        case ".":
            return document
        case "connections":
            return connections
        case "transfers":
            return transfers
        case "rounds":
            return [one for transfer in transfers for one in transfer.rounds]
        case "files":
            return document.captures
        case "problems":
            return [
                problem
                for owner in [*document.captures, *connections]
                for problem in owner.problems
            ]
    of_connections = [
        finding
        for connection in connections
        for owner in [connection, *connection.transfers]
        for finding in owner.findings
    ]
    return of_connections + document.findings
