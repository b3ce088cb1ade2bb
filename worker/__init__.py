"""The inference process: engines, model files, and the work loop. Imports nothing of ours but `shm`."""

import os

# onnxruntime's official builds report to their maker from 1.29 on unless told not to before they are loaded, and leave
# a file of theirs in the temporary folder. This server speaks to nobody but its user.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
