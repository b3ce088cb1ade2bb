"""onnxruntime's execution providers: their chain, their options, the stages that run on them, and the nodes that really
did."""
