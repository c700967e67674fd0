"""The other engines, behind one process: JSON requests on stdin, a line each, answers on stdout in the order of their requests.

Request `{"id": 1, "op": "deltars.read", "args": {...}}`; answer `{"id": 1, "result": ...}` or `{"id": 1, "error": "..."}`.
An operation is a function of engine_<name>.py that is named in its `OPERATIONS`. Engines are loaded when first asked for.
"""
from __future__ import annotations

import importlib
import json
import os
import sys
import traceback


def main() -> None:
    # Libraries below print to descriptor 1; answers keep a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        engine, _, operation = request["op"].partition(".")
        try:
            operations = importlib.import_module(f"engine_{engine}").OPERATIONS
            answer = {"id": request["id"], "result": operations[operation](**request["args"])}
        except BaseException as error:  # noqa: BLE001 - the caller decides what an error of an engine means
            traceback.print_exc()
            answer = {"id": request["id"], "error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
