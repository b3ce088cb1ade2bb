"""The inference process: engines, model files, and the work loop."""

import os

# onnxruntime's official builds report to their maker from 1.29 on, and leave a file in the temporary folder, unless the
# environment forbids it before they are loaded. This server sends data to nobody but its user.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
