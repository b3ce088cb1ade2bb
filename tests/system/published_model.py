"""A miniature model on a file server, with the manifest that describes it."""

import hashlib
import json
from pathlib import Path

from tests.file_server import FileServer
from tests.miniature import make_miniature, make_voices


def publish(on: FileServer, folder: Path) -> Path:
    """Put a miniature model and voices on the file server; the manifest that describes them."""
    folder.mkdir()
    files = [make_miniature(folder / "model.onnx"), make_voices(folder / "voices.bin")]
    entries = []
    for file, what in zip(files, ("model", "voices"), strict=True):
        data = file.read_bytes()
        on.files[f"/{file.name}"] = data
        entries.append(
            {
                "name": file.name,
                "size": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "precision": "fp32",
                "what": what,
                "url": f"{on.url}/{file.name}",
            }
        )
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(entries))
    return manifest
