"""onnxruntime's execution providers: their chain, their options, and the stages and nodes that run on them."""
