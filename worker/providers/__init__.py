"""onnxruntime's execution providers: their names and options, and the nodes that run on them."""
