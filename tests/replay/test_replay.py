"""Programs are the same bytes as before: what `replay.json` has. A meant change is written by `make replay`."""

from __future__ import annotations

import json

from replay import programs


def test_programs_are_byte_identical_to_the_recorded_ones() -> None:
    recorded = json.loads(programs.FILE.read_text())
    models = programs.models()
    assert list(recorded) == list(models), "other models than recorded: make replay"
    now = {name: programs.digest(*model) for name, model in models.items()}
    changed = [name for name in models if now[name] != recorded[name]]
    assert not changed, f"{len(changed)} programs changed: {changed[:20]}"
